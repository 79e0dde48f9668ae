package talk

import (
	"context"
	"errors"

	"adze/internal/desk"
	"adze/internal/tool"
)

// A typed is a command that the user typed and that runs. It may be nil.
type typed struct {
	stop context.CancelFunc
	news chan tool.Display
	done chan ending
}

// startTyped runs a command that the user typed. The conversation goes on meanwhile. It fails if another one still runs.
func (d runner) startTyped(ctx context.Context, command string) error {
	if d.typed != nil {
		return errors.New("another command is still running: press Ctrl-C to end it, or Ctrl-B to move it to the background")
	}
	ctx, stop := context.WithCancel(ctx)
	t := &typed{stop: stop, news: make(chan tool.Display, 1), done: make(chan ending, 1)}
	talk := d.talk
	go func() {
		answer, err := talk.Shell(ctx, command, t.report)
		t.done <- ending{answer: answer, err: err}
	}()
	d.typed = t
	d.view.Began(typedCall, "!"+tool.OneLine(command, 80))
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

// typedOver handles the end of the command: all that it printed is shown, and told to the session.
func (d runner) typedOver(ctx context.Context, e ending) {
	d.typed.stop()
	d.typed = nil
	d.view.Over(typedCall)
	if op, ok := e.answer.(desk.Operation); ok && e.err == nil {
		e.answer = desk.Operation{Op: op.Op, Entries: op.Entries}
		d.view.Whole(op.Page)
	}
	d.carryOut(ctx, e)
	d.watched.look(d.talk.Tasks)
	if d.ended && !d.Busy() {
		d.Quit()
	}
	course(d).resume()
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
