package controller

import (
	"context"
	"errors"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
)

const (
	// inlineWait is how long to wait for a command before handling other events. Most commands
	// finish in that time.
	inlineWait = 100 * time.Millisecond
	// cancelGrace is how long a canceled command may take to end when the conversation is left.
	cancelGrace = 2 * time.Second
)

// The IDs, for views, of the running command, the typed shell command, and an interruption.
const (
	slashCall = "slash"
	typedCall = "typed"
	stopCall  = "stop"
)

// A commandResult is the result of a command.
type commandResult struct {
	answer commands.Answer
	err    error
	chosen bool // result of a choice from a list
}

// A slashCommand is a command or choice that runs for the user alongside the turn. The zero
// value runs nothing.
type slashCommand struct {
	stop context.CancelFunc // nil if nothing is running
	done chan commandResult
	// lines holds entries made during the command, to be handled after it.
	lines []Input
}

// runCommand calls do and executes its result: immediately if it does not take long.
func (d *Driver) runCommand(ctx context.Context, title string, do func(context.Context) commandResult) {
	within, stop := context.WithCancel(ctx)
	done := make(chan commandResult, 1)
	go func() { done <- do(within) }()
	wait := time.NewTimer(inlineWait)
	defer wait.Stop()
	select {
	case e := <-done:
		stop()
		d.execute(ctx, e)
	case <-wait.C:
		d.slash = slashCommand{stop: stop, done: done}
		d.view.Began(slashCall, title)
	}
}

// Command runs the command in line.
func (d *Driver) Command(ctx context.Context, line string) {
	name, arg, _ := commands.Parse(line)
	talk := d.talk
	d.runCommand(ctx, "/"+name, func(ctx context.Context) commandResult {
		answer, err := talk.Run(ctx, name, arg)
		return commandResult{answer: answer, err: err}
	})
}

// runs reports whether a command is running.
func (s *slashCommand) runs() bool { return s.stop != nil }

// cancel cancels the running command, and reports whether there is one.
func (s *slashCommand) cancel() bool {
	if s.stop == nil {
		return false
	}
	s.stop()
	return true
}

// hold queues an entry until the command has ended, and reports whether a command is running.
func (s *slashCommand) hold(e Input) bool {
	if s.stop == nil {
		return false
	}
	s.lines = append(s.lines, e)
	return true
}

// abandon cancels the command when the conversation is left, and waits briefly for it to end.
func (s *slashCommand) abandon() {
	if s.cancel() {
		select {
		case <-s.done:
		case <-time.After(cancelGrace):
		}
	}
	*s = slashCommand{}
}

// commandDone executes the answer of a finished command, and handles the entries queued behind it.
func (d *Driver) commandDone(ctx context.Context, e commandResult) {
	lines := d.slash.lines
	d.slash.stop()
	d.view.Over(slashCall)
	d.slash = slashCommand{}
	if errors.Is(e.err, context.Canceled) {
		e.err = errors.New("interrupted")
		if len(lines) > 0 {
			e.err = errors.New("interrupted; " + amount.Of(len(lines), "queued line", "queued lines") + " discarded")
			lines = nil
		}
	}
	d.execute(ctx, e)
	for i, line := range lines {
		if !d.Open(ctx) {
			for _, line := range lines[i:] {
				d.Defer(func(ctx context.Context) { d.Enter(ctx, line) })
			}
			return
		}
		d.Enter(ctx, line)
	}
	if d.ended && !d.Busy() {
		d.Quit()
	}
	d.resume()
}

// queuePrompt submits a command's prompt, to be answered after the running turn.
func (d *Driver) queuePrompt(ctx context.Context, p session.Prompt) {
	if d.working && d.Submit(ctx, p) {
		d.view.Say("It is sent when the model has finished.")
		return
	}
	d.Prompt(ctx, p)
}
