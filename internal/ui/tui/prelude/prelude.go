// Package prelude asks what must be decided before there is a conversation, with the dialogs of the conversations: keys that
// were typed before a question could be seen do not answer it. What they type is shown below the question, and returned for
// the conversation.
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

// A Config is the terminal, which delivers single keys.
type Config struct {
	In  io.Reader
	Out io.Writer
	Waiter
	// Width and Height return its size. Changes receives its signals, see [term.Changes]; it may be nil. Reflows says that it
	// breaks lines again when it becomes narrower.
	Width, Height func() int
	Changes       <-chan os.Signal
	Reflows       bool
	// Suspend stops the program until the user resumes it. Resume takes the terminal again after something else has stopped it.
	Suspend, Resume func()
	Palette         draw.Palette
	Glyphs          draw.Glyphs
}

// A Waiter waits for input without reading it, so that what follows an answer is left to others.
type Waiter interface {
	// Await reports whether there is input, or its end. It returns false after a time, 0 of which means never, and after Wake.
	Await(d time.Duration) bool
	// Wake makes Await return. It may be called by another goroutine.
	Wake()
}

// ErrInterrupted says that the user wants to leave the program.
var ErrInterrupted = errors.New("interrupted")

// Ask asks a question. It returns which answer the user has chosen, or -1 for none, and what they typed that was not meant for
// it.
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
	s.final = s.dialog.Open(s.width(), s.room())
	chosen, err = s.run(ctx)
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
	final    []draw.Row // to be written for good
	drawn    bool       // a frame shows that the question takes keys
	read     time.Time  // when something was read last
	pending  []byte     // what was read since the last key was complete
	typed    []byte     // what was not meant for the question
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
				default: // the next frame fits the size all the same
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

// take hands events to the question, and to what is typed below it.
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

// written is after which time to look whether a frame has been written.
const written = 10 * time.Millisecond

// frame shows the question and what is typed, and returns after which time to look again; 0 means never.
func (s *stage) frame() time.Duration {
	if s.drawn && s.screen.Written() {
		s.dialog.Shown(time.Now())
	}
	wait := s.dialog.Look(time.Now(), !s.composer.Empty())
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

// outcome says what was asked and answered.
func (s *stage) outcome(chosen int, err error) []draw.Row {
	answer := s.question.Leaving
	switch {
	case err != nil:
		answer = err.Error()
	case chosen >= 0:
		answer = s.question.Answers[chosen]
	}
	return draw.Wrap(draw.Row{{Text: draw.Clean(s.question.Text) + " "}, {Role: draw.Faint, Text: draw.Clean(answer)}}, s.width(), nil)
}

func (s *stage) width() int { return min(s.Width()-1, screen.Widest) }

// room returns how many rows the question has.
func (s *stage) room() int { return max(3, s.Height()-3) }
