package demo

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/controller"
	"adze/internal/ui/screen/svg"
)

// The size of a film's terminal.
const (
	FilmWidth  = 100
	FilmHeight = 30
)

// A Front is a front end that can be recorded.
type Front interface {
	// Post calls do among its other work, and Drawn waits until everything so far is drawn. Both
	// report false when ctx is done.
	Post(ctx context.Context, do func(context.Context)) bool
	Drawn(ctx context.Context) bool
	// Asking reports whether a question is shown. It and Conversation are called by Post.
	Asking() bool
	Conversation() *controller.Conversation
}

// A Film records the demo in the full front end, in which it types the prompt and accepts every
// question. It decides when the scripted model goes on, and shows its own clock, so that the same
// frames appear on every machine.
type Film struct {
	Prompt string
	// Brief ends the film at the question about the edit.
	Brief bool
	// Terminal is the terminal and In its keyboard.
	Terminal *svg.Terminal
	In       *io.PipeReader
	// Frames are the frames so far.
	Frames []svg.Frame

	ctx   context.Context
	stop  context.CancelFunc
	keys  *io.PipeWriter
	front Front
	ended chan struct{} // closed when the turn has ended
	done  chan error    // receives the outcome of record

	mu   sync.Mutex
	seen session.Seq // last entry shown
	now  time.Time
}

// NewFilm returns a film without frames. ctx bounds the recording.
func NewFilm(ctx context.Context, prompt string) *Film {
	f := &Film{Prompt: prompt, Terminal: svg.NewTerminal(FilmWidth, FilmHeight), ended: make(chan struct{}), done: make(chan error, 1), now: time.Unix(1e9, 0)}
	f.In, f.keys = io.Pipe()
	f.ctx, f.stop = context.WithCancel(ctx)
	return f
}

// Start begins recording a front end that is about to run.
func (f *Film) Start(front Front) {
	f.front = front
	go func() {
		err := f.record()
		f.stop()       // nothing waits for the screen any more
		f.keys.Close() // leaves the conversation
		f.done <- err
	}()
}

// Finish waits for the end of the recording, when the front end has ended.
func (f *Film) Finish() error {
	f.stop()
	f.In.Close() // ok: nothing more is typed
	if f.front == nil {
		return errUnfinished
	}
	return <-f.done
}

var errUnfinished = errors.New("the demo ended before its picture was complete")

// Now returns the time in the film.
func (f *Film) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Follow returns entries without what depends on the speed of the machine. It waits until each is
// on the screen, and records the pieces of the answer.
func (f *Film) Follow(entries iter.Seq[session.Entry]) iter.Seq[session.Entry] {
	return func(yield func(session.Entry) bool) {
		for e := range entries {
			written, shown := amend(&e)
			if shown && (!yield(e) || !f.front.Drawn(f.ctx)) {
				return
			}
			if written {
				f.shoot(writing)
			}
			f.mu.Lock()
			f.seen = e.Seq
			f.mu.Unlock()
		}
	}
}

// amend makes an entry independent of the speed of the machine. It reports whether it is a piece
// of the answer's text, and whether it is to be shown at all.
func amend(e *session.Entry) (written, shown bool) {
	switch ev := e.Event.(type) {
	case session.Finished:
		ev.Took = 0
		e.Event = ev
	case session.Loop:
		switch ev := ev.Event.(type) {
		case agent.Delta:
			_, written = ev.Event.(model.TextDelta)
		case agent.ToolProgress:
			return false, false
		case agent.ToolDone:
			ev.Elapsed = 0
			if out, ok := ev.Display.(tool.Output); ok {
				out.Elapsed = 0
				ev.Display = out
			}
			e.Event = session.Loop{Event: ev}
		}
	}
	return written, true
}

// Ended notes the end of the turn.
func (f *Film) Ended(session.Finished) (string, bool) {
	close(f.ended)
	return "", false
}

// Pause takes the place of the pause before an answer of the model. The session does nothing in
// the meantime.
func (f *Film) Pause(d time.Duration) {
	f.catchUp()
	const step = 125 * time.Millisecond // for what moves by itself
	for ; d > 0; d -= step {
		f.shoot(min(d, step))
	}
}

// Durations of frames.
const (
	typing  = 70 * time.Millisecond
	writing = 50 * time.Millisecond   // of a piece of the answer
	reading = 2500 * time.Millisecond // of a question
	lasting = 6 * time.Second         // of the last frame
)

// record types the prompt and answers the questions until the turn has ended.
func (f *Film) record() error {
	f.shoot(10 * typing)
	for text := f.Prompt; text != ""; {
		n := min(2, len(text))
		f.press(text[:n])
		f.shoot(typing)
		text = text[n:]
	}
	f.shoot(6 * typing)
	f.press("\r")
	for asked := 1; ; asked++ {
		if !f.await() {
			break
		}
		f.catchUp()
		if f.Brief && asked == questionAboutEdit {
			f.shoot(reading)
			return nil
		}
		f.shoot(reading)
		time.Sleep(sight)
		f.press("\r")
	}
	f.catchUp()
	f.shoot(lasting)
	if f.ctx.Err() != nil {
		return errUnfinished
	}
	return nil
}

// questionAboutEdit is the number of the question about the edit.
const questionAboutEdit = 2

// sight is longer than the time for which a question has to be visible before it accepts keys.
const sight = 400 * time.Millisecond

// await waits for a question, or the end of the turn. It reports whether there is a question.
func (f *Film) await() bool {
	for !f.ask(f.front.Asking) {
		select {
		case <-f.ended:
			return false
		case <-f.ctx.Done():
			return false
		case <-time.After(patience):
		}
	}
	return true
}

// patience is the interval for checking what the front end shows.
const patience = 5 * time.Millisecond

// press presses keys, and waits until the front end has handled them.
func (f *Film) press(keys string) {
	io.WriteString(f.keys, keys) // ok: a front end that has ended shows nothing more
	f.keys.Write(nil)            // ok: likewise; the front end reads again when it has handled the keys
	f.front.Drawn(f.ctx)
}

// shoot adds a frame with the current screen.
func (f *Film) shoot(d time.Duration) {
	if !f.front.Drawn(f.ctx) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Frames = append(f.Frames, svg.Frame{Screen: f.Terminal.Screen(), Lasts: d})
	f.now = f.now.Add(d)
}

// catchUp waits until all entries are shown.
func (f *Film) catchUp() {
	for f.ask(func() bool { return !f.current() }) {
		time.Sleep(patience)
	}
}

// ask returns the result of a function called by the front end, or false if that has ended.
func (f *Film) ask(do func() bool) bool {
	result := make(chan bool, 1)
	return f.front.Post(f.ctx, func(context.Context) { result <- do() }) && <-result
}

// current reports whether all entries are shown.
func (f *Film) current() bool {
	c := f.front.Conversation()
	f.mu.Lock()
	defer f.mu.Unlock()
	return c == nil || f.seen >= c.Last()
}
