// Package prelude asks questions before a conversation exists, using the same dialogs. Keys
// typed before a question could be seen do not answer it; their text is shown below the
// question and returned for the conversation.
package prelude

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"adze/internal/platform/term"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/compose"
	"adze/internal/ui/tui/dialog"
)

// Config configures the terminal, which delivers single keys.
type Config struct {
	In  io.Reader
	Out io.Writer
	Waiter
	// Width and Height return its size. Changes receives its signals, see [term.Changes]; it
	// may be nil. Reflows is what it does with lines when it becomes narrower.
	Width, Height func() int
	Changes       <-chan os.Signal
	Reflows       term.Reflow
	// Suspend stops the program until the user resumes it. Resume reclaims the terminal after
	// the program was stopped externally.
	Suspend, Resume func()
	Palette         draw.Palette
	Glyphs          draw.Glyphs
}

// A Waiter waits for input without reading it, so that input after an answer remains available
// to other readers.
type Waiter interface {
	// Await reports whether there is input, or the end of it. It returns false after d, where 0
	// means no timeout, and after Wake.
	Await(d time.Duration) bool
	// Wake makes Await return. It may be called from another goroutine.
	Wake()
}

// ErrInterrupted is returned if the user wants to exit the program.
var ErrInterrupted = errors.New("interrupted")

// Ask asks a question. It returns the index of the chosen answer, or -1, and the typed input
// that was not meant for the question.
func Ask(ctx context.Context, c Config, q dialog.Simple) (chosen int, typed []byte, err error) {
	bindings := keys.Defaults() // the settings that change them are not read yet
	s := &stage{
		Config: c, question: q, bindings: bindings,
		screen:   screen.New(c.Out, func() (int, int) { return c.Width(), c.Height() }, c.Reflows),
		composer: compose.New(c.Glyphs, nil),
		dialog: dialog.NewSimple(q, dialog.NewGuard(time.Now(), time.Time{}, false), dialog.Options{
			Glyphs: c.Glyphs, Bindings: func() *keys.Map { return bindings }, Marks: !c.Palette.Coloured(),
		}),
	}
	chosen, err = s.run(ctx)
	s.final = append(s.final, s.dialog.Close()...)
	s.screen.Frame(c.Palette.Lines(append(s.final, s.outcome(chosen, err)...)), nil, screen.Point{})
	s.screen.Leave()
	return chosen, s.typed, err
}

// A stage shows one question.
type stage struct {
	Config
	question dialog.Simple
	dialog   *dialog.Dialog
	composer *compose.Composer
	screen   *screen.Screen
	bindings *keys.Map
	decoder  keys.Decoder
	final    []draw.Row // rows for the scrollback
	drawn    bool       // a frame shows that the question accepts keys
	read     time.Time  // time of the last read
	pending  []byte     // input since the last complete key
	typed    []byte     // input not meant for the question
}

// run handles keys until the question is answered.
func (s *stage) run(ctx context.Context) (int, error) {
	signals := make(chan os.Signal, 1)
	defer s.watch(ctx, signals)()
	buf := make([]byte, 4<<10)
	for {
		wait := s.frame()
		var events []keys.Event
		switch {
		case s.Await(wait):
			n, err := s.In.Read(buf)
			if n == 0 && err != nil {
				return -1, ErrInterrupted
			}
			s.read, s.pending = time.Now(), append(s.pending, buf[:n]...)
			events = s.decoder.Decode(buf[:n], s.read)
		case ctx.Err() != nil:
			return -1, ErrInterrupted
		default:
			if s.decoder.Wait() > 0 && time.Since(s.read) >= s.decoder.Wait() {
				events = s.decoder.Flush(time.Now())
			}
		}
		select {
		case signal := <-signals:
			if term.Resumes(signal) {
				s.Resume()
				s.screen.Forget()
				s.dialog.Disturb()
			}
		default:
		}
		if chosen, err, over := s.take(events); over {
			return chosen, err
		}
	}
}

// watch wakes the question when the terminal has changed or ctx is done, until it is stopped.
func (s *stage) watch(ctx context.Context, signals chan<- os.Signal) (stop func()) {
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case signal := <-s.Changes:
				select {
				case signals <- signal:
				default: // the next frame fits the size anyway
				}
			case <-ctx.Done():
				s.Wake()
				return
			case <-over:
				return
			}
			s.Wake()
		}
	})
	return func() {
		close(over)
		done.Wait()
	}
}

// take passes events to the question, or to the text typed below it.
func (s *stage) take(events []keys.Event) (chosen int, err error, over bool) {
	used := false
	alone := dialog.Pressed(events)
	for _, ev := range events {
		r := s.dialog.Press(ev, alone)
		s.final = append(s.final, r.Final...)
		if used = used || r.Used; r.Reply != nil {
			return s.question.Chosen(r.Reply), nil, true
		}
		if r.Used {
			continue
		}
		switch s.composer.Press(ev, s.bindings, s.Width()) {
		case keys.Interrupt, keys.Exit:
			return -1, ErrInterrupted, true
		case keys.Suspend:
			used = true
			s.suspend()
		}
	}
	if len(events) > 0 {
		if !used {
			s.typed = append(s.typed, s.pending...)
		}
		s.pending = nil
	}
	return 0, nil, false
}

// suspend stops the program until the user resumes it, and then shows the question again.
func (s *stage) suspend() {
	s.screen.Leave()
	s.Suspend()
	s.dialog.Disturb()
	s.drawn = false
}

// written is the interval for checking whether a frame has been written.
const written = 10 * time.Millisecond

// frame shows the question and the typed text, and returns the delay until the next check; 0
// means never.
func (s *stage) frame() time.Duration {
	if s.drawn && s.screen.Written() {
		s.dialog.Shown(time.Now())
	}
	wait := s.dialog.Look(time.Now(), !s.composer.Empty())
	s.final = append(s.final, s.dialog.Overflow(s.width(), s.room())...)
	rows, caret := s.dialog.Rows(s.width(), s.room())
	if !s.composer.Empty() {
		typed, at := s.composer.Rows(s.Width(), max(1, s.Height()/3))
		if caret == nil && at != nil {
			caret = &screen.Point{Row: len(rows) + at.Row, Col: at.Col}
		}
		rows = append(rows, typed...)
	}
	if caret == nil {
		caret = &screen.Point{}
	}
	s.screen.Frame(s.Palette.Lines(s.final), s.Palette.Unlinked().Lines(rows), *caret)
	s.final, s.drawn = nil, s.dialog.Active()
	if s.dialog.Unseen() {
		wait = written
	}
	if late := s.decoder.Wait(); late > 0 && (wait == 0 || late < wait) {
		wait = late
	}
	return wait
}

// outcome returns the question and its answer.
func (s *stage) outcome(chosen int, err error) []draw.Row {
	answer := s.question.Leaving
	switch {
	case err != nil:
		answer = err.Error()
	case chosen >= 0:
		answer = s.question.Answers[chosen]
	}
	return draw.Wrap(draw.Row{{Text: draw.Clean(s.question.Question) + " "}, {Role: draw.Faint, Text: draw.Clean(answer)}}, s.width(), nil)
}

func (s *stage) width() int { return s.Width() - 1 }

// room returns the number of rows for the question.
func (s *stage) room() int { return max(3, s.Height()-3) }
