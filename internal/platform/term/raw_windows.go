package term

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// Raw lets the console of f deliver every key at once, unseen, as the sequences that terminals send; those that would
// be signals too. What is written to standard output is obeyed as a terminal does. Restore brings back what was.
func Raw(f *os.File) (restore func(), err error) {
	in, out := windows.Handle(f.Fd()), windows.Handle(os.Stdout.Fd())
	var wasIn, wasOut uint32
	if windows.GetConsoleMode(in, &wasIn) != nil || windows.GetConsoleMode(out, &wasOut) != nil {
		return nil, errors.New("not a console")
	}
	const cooked = windows.ENABLE_LINE_INPUT | windows.ENABLE_ECHO_INPUT | windows.ENABLE_PROCESSED_INPUT
	if windows.SetConsoleMode(in, wasIn&^cooked|windows.ENABLE_VIRTUAL_TERMINAL_INPUT) != nil {
		return nil, errors.New("the console cannot be set to deliver keys")
	}
	if windows.SetConsoleMode(out, wasOut|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		windows.SetConsoleMode(in, wasIn) // ok: it was like that a moment ago
		return nil, errors.New("the console is no terminal")
	}
	return func() {
		windows.SetConsoleMode(in, wasIn)   // ok: a console that is gone needs nothing
		windows.SetConsoleMode(out, wasOut) // ok: as above
	}, nil
}

// Suspend says that a program cannot be stopped here.
func Suspend() error { return errors.ErrUnsupported }

// looking is how often the size of the console is looked at: no signal tells that it has changed.
const looking = time.Second

// Changes returns a channel that gets a signal when the size of the console has changed. It gets none after stop was
// called.
func Changes() (changes <-chan os.Signal, stop func()) {
	c, done := make(chan os.Signal, 1), make(chan struct{})
	go func() {
		tick := time.NewTicker(looking)
		defer tick.Stop()
		width, height := Size(os.Stdout)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			w, h := Size(os.Stdout)
			if w == width && h == height {
				continue
			}
			width, height = w, h
			select {
			case c <- resized{}:
			default: // there is one already
			}
		}
	}()
	return c, sync.OnceFunc(func() { close(done) })
}

// resized says that the size has changed.
type resized struct{}

func (resized) Signal()        {}
func (resized) String() string { return "the size has changed" }

// Resumes reports that no signal says so here.
func Resumes(os.Signal) bool { return false }

// DropInput does nothing here.
func DropInput(*os.File) {}
