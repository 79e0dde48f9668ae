package controller

import (
	"context"
	"errors"

	"adze/internal/commands"
	"adze/internal/tool"
)

// A shellCommand is a running shell command typed by the user. It may be nil.
type shellCommand struct {
	stop context.CancelFunc
	news chan tool.Display
	done chan commandResult
}

// startShell runs a shell command typed by the user. The conversation continues in the
// meantime. It fails if another one is still running.
func (d *Driver) startShell(ctx context.Context, command string) error {
	if d.typed != nil {
		return errors.New("another command is still running: press Ctrl-C to end it, or Ctrl-B to move it to the background")
	}
	ctx, stop := context.WithCancel(ctx)
	t := &shellCommand{stop: stop, news: make(chan tool.Display, 1), done: make(chan commandResult, 1)}
	talk := d.talk
	go func() {
		answer, err := talk.Shell(ctx, command, t.report)
		t.done <- commandResult{answer: answer, err: err}
	}()
	d.typed = t
	d.view.Began(typedCall, "!"+tool.OneLine(command, 80))
	return nil
}

// report stores the latest output of the command until it is shown.
func (t *shellCommand) report(d tool.Display) {
	select {
	case <-t.news:
	default:
	}
	select {
	case t.news <- d:
	default:
	}
}

// shellDone handles the end of the command: its full output is shown and passed to the session.
func (d *Driver) shellDone(ctx context.Context, e commandResult) {
	d.typed.stop()
	d.typed = nil
	d.view.Over(typedCall)
	if op, ok := e.answer.(commands.Operation); ok && e.err == nil {
		e.answer = commands.Operation{Op: op.Op, Entries: op.Entries}
		d.view.Whole(op.Page)
	}
	d.execute(ctx, e)
	d.watched.look(d.talk.Tasks)
	if d.ended && !d.Busy() {
		d.Quit()
	}
	d.resume()
}

// abandon ends the command and waits for its end, when the conversation is left.
func (t *shellCommand) abandon() {
	if t.cancel() {
		<-t.done
	}
}

// cancel ends the command, and reports whether there is one.
func (t *shellCommand) cancel() bool {
	if t == nil {
		return false
	}
	t.stop()
	return true
}

// ended returns a channel for the end of the command, and printed one for its output.
func (t *shellCommand) ended() <-chan commandResult {
	if t == nil {
		return nil
	}
	return t.done
}

func (t *shellCommand) printed() <-chan tool.Display {
	if t == nil {
		return nil
	}
	return t.news
}
