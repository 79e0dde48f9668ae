package plain

import (
	"context"
	"errors"
	"time"

	"adze/internal/desk"
	"adze/internal/tool"
)

// A typed is a command that the user typed and that runs. It may be nil.
type typed struct {
	call *call
	stop context.CancelFunc
	news chan tool.Display
	done chan ending
}

// An ending is what came of a command.
type ending struct {
	answer desk.Answer
	err    error
}

// start runs a command that the user typed. The conversation goes on meanwhile. It fails if another one still runs.
func (t *typed) start(ctx context.Context, f *Front, command string) error {
	if t != nil {
		return errors.New("another command is still running: press Ctrl-C to end it, or Ctrl-B to move it to the background")
	}
	ctx, stop := context.WithCancel(ctx)
	t = &typed{
		call: &call{id: "typed", title: "!" + tool.OneLine(command, 80), began: time.Now()},
		stop: stop, news: make(chan tool.Display, 1), done: make(chan ending, 1),
	}
	talk := f.talk
	go func() {
		answer, err := talk.Shell(ctx, command, t.report)
		t.done <- ending{answer, err}
	}()
	f.typed = t
	f.out.calls = append(f.out.calls, t.call)
	return nil
}

// report keeps the last of what the command printed until it is shown.
func (t *typed) report(d tool.Display) {
	select {
	case <-t.news:
	default:
	}
	select {
	case t.news <- d:
	default:
	}
}

// over handles the end of the command: all that it printed is shown, and told to the session.
func (t *typed) over(ctx context.Context, f *Front, e ending) {
	t.stop()
	f.typed = nil
	f.out.forget(t.call.id)
	f.out.unbounded = true
	f.carryOut(ctx, e)
	f.out.unbounded = false
	f.watched.look(f.talk.Tasks)
	if f.ended && !f.busy() {
		f.quit()
	}
	f.resume()
}

// abandon ends the command and waits for its end, when the conversation is left.
func (t *typed) abandon() {
	if t.cancel() {
		<-t.done
	}
}

// cancel ends the command, and reports whether there is one.
func (t *typed) cancel() bool {
	if t == nil {
		return false
	}
	t.stop()
	return true
}

// ended returns where the end of the command arrives, and printed what it prints.
func (t *typed) ended() <-chan ending {
	if t == nil {
		return nil
	}
	return t.done
}

func (t *typed) printed() <-chan tool.Display {
	if t == nil {
		return nil
	}
	return t.news
}
