package term

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// Raw makes the console f deliver every key immediately and without echo, as terminal
// sequences, including keys that would send signals. It enables terminal sequences on standard
// output. restore restores the previous modes.
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
		windows.SetConsoleMode(in, wasIn) // ok: the mode was valid a moment ago
		return nil, errors.New("the console is not a terminal")
	}
	return func() {
		windows.SetConsoleMode(in, wasIn)   // ok: the console may be gone
		windows.SetConsoleMode(out, wasOut) // ok: as above
	}, nil
}

// Suspend returns an error: a program cannot be stopped on this system.
func Suspend() error { return errors.ErrUnsupported }

// looking is the interval for checking the console's size, because Windows does not signal
// changes.
const looking = time.Second

// Changes returns a channel that receives a signal when the console's size has changed. It
// receives none after stop was called.
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
			default: // a signal is already pending
			}
		}
	}()
	return c, sync.OnceFunc(func() { close(done) })
}

// resized is the signal that the size has changed.
type resized struct{}

func (resized) Signal()        {}
func (resized) String() string { return "the size has changed" }

// Resumes returns false: this system has no such signal.
func Resumes(os.Signal) bool { return false }

// DropInput does nothing on this system.
func DropInput(*os.File) {}
