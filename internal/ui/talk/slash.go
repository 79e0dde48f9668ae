package talk

import (
	"context"
	"errors"
	"time"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/session"
)

const (
	// atOnce is how long a command is waited for before other things are attended to: most are done by then.
	atOnce = 100 * time.Millisecond
	// lastMoment is how long a command that was cancelled may take to end when the conversation is left.
	lastMoment = 2 * time.Second
)

// slashCall and typedCall are the names of what runs for the user, for views, and stopCall that of an interruption.
const (
	slashCall = "slash"
	typedCall = "typed"
	stopCall  = "stop"
)

// An ending is what came of a command.
type ending struct {
	answer desk.Answer
	err    error
	chosen bool // it was a choice from a list
}

// A slash is what runs for the user beside the turn: a command, or what a choice leads to. Its zero value runs nothing.
type slash struct {
	stop context.CancelFunc // nil if nothing runs
	done chan ending
	// lines were entered meanwhile, and wait for the end.
	lines []Entered
}

// A runner runs commands.
type runner struct{ *Driver }

// run runs something, and carries out what comes of it: at once if it does not take long.
func (d runner) run(ctx context.Context, title string, do func(context.Context) ending) {
	within, stop := context.WithCancel(ctx)
	done := make(chan ending, 1)
	go func() { done <- do(within) }()
	wait := time.NewTimer(atOnce)
	defer wait.Stop()
	select {
	case e := <-done:
		stop()
		d.carryOut(ctx, e)
	case <-wait.C:
		d.slash = slash{stop: stop, done: done}
		d.view.Began(slashCall, title)
	}
}

// Command runs the command that a line holds.
func (d *Driver) Command(ctx context.Context, line string) {
	name, arg, _ := desk.Parse(line)
	talk := d.talk
	runner{d}.run(ctx, "/"+name, func(ctx context.Context) ending {
		answer, err := talk.Run(ctx, name, arg)
		return ending{answer: answer, err: err}
	})
}

// runs reports whether something runs.
func (s *slash) runs() bool { return s.stop != nil }

// cancel cancels the command that runs, and reports whether there is one.
func (s *slash) cancel() bool {
	if s.stop == nil {
		return false
	}
	s.stop()
	return true
}

// hold keeps what was entered until the command has ended, and reports whether there is one.
func (s *slash) hold(e Entered) bool {
	if s.stop == nil {
		return false
	}
	s.lines = append(s.lines, e)
	return true
}

// abandon cancels the command when the conversation is left, and waits a moment for it to end.
func (s *slash) abandon() {
	if s.cancel() {
		select {
		case <-s.done:
		case <-time.After(lastMoment):
		}
	}
	*s = slash{}
}

// over carries out the answer of the command that has ended, and handles what was entered meanwhile.
func (d runner) over(ctx context.Context, e ending) {
	lines := d.slash.lines
	d.slash.stop()
	d.view.Over(slashCall)
	d.slash = slash{}
	if errors.Is(e.err, context.Canceled) {
		e.err = errors.New("interrupted")
		if len(lines) > 0 {
			e.err = errors.New("interrupted; " + amount.Of(len(lines), "line", "lines") + " entered meanwhile dropped")
			lines = nil
		}
	}
	d.carryOut(ctx, e)
	for i, line := range lines {
		if !d.Open(ctx) {
			d.lines = append(d.lines, lines[i:]...)
			return
		}
		if d.slash.runs() {
			d.slash.lines = append(d.slash.lines, lines[i:]...)
			break
		}
		d.handle(ctx, line)
	}
	if d.ended && !d.Busy() {
		d.Quit()
	}
	course(d).resume()
}

// queue has a prompt that a command stands for answered: when the turn that runs has ended.
func (d runner) queue(ctx context.Context, p session.Prompt) {
	if d.working && d.Submit(ctx, p) {
		d.view.Say("It is sent when the model has finished.")
		return
	}
	d.Prompt(ctx, p)
}
