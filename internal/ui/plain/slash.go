package plain

import (
	"context"
	"errors"
	"time"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/session"
)

const (
	// atOnce is how long the front end waits for a command before it attends to other things: most are done by then.
	atOnce = 100 * time.Millisecond
	// parting is how long a command that was cancelled may take to end when the conversation is left.
	parting = 2 * time.Second
)

// A slash is what runs for the user beside the turn: a command, or what a choice leads to. Its zero value runs nothing.
type slash struct {
	call *call // nil if nothing runs
	stop context.CancelFunc
	done chan ending
	// lines were entered meanwhile, and wait for the end.
	lines []string
}

// A runner runs commands.
type runner struct{ *Front }

// run runs something that returns an answer, and carries the answer out: at once if it does not take long.
func (f runner) run(ctx context.Context, title string, do func(context.Context) (desk.Answer, error)) {
	within, stop := context.WithCancel(ctx)
	done := make(chan ending, 1)
	go func() {
		answer, err := do(within)
		done <- ending{answer, err}
	}()
	wait := time.NewTimer(atOnce)
	defer wait.Stop()
	select {
	case e := <-done:
		stop()
		f.carryOut(ctx, e)
	case <-wait.C:
		f.slash = slash{call: &call{id: "slash", title: title, began: time.Now()}, stop: stop, done: done}
		f.out.calls = append(f.out.calls, f.slash.call)
	}
}

// command runs the command that a line holds.
func (f runner) command(ctx context.Context, line string) {
	name, arg, _ := desk.Parse(line)
	talk := f.talk
	f.run(ctx, "/"+name, func(ctx context.Context) (desk.Answer, error) { return talk.Run(ctx, name, arg) })
}

// cancel cancels the command that runs, and reports whether there is one.
func (s *slash) cancel() bool {
	if s.call == nil {
		return false
	}
	s.stop()
	return true
}

// hold keeps what was entered until the command has ended, and reports whether there is one.
func (s *slash) hold(text string) bool {
	if s.call == nil {
		return false
	}
	s.lines = append(s.lines, text)
	return true
}

// abandon cancels the command when the conversation is left, and waits a moment for it to end.
func (s *slash) abandon() {
	if s.cancel() {
		select {
		case <-s.done:
		case <-time.After(parting):
		}
	}
	*s = slash{}
}

// over carries out the answer of the command that has ended, and handles what was entered meanwhile.
func (f runner) over(ctx context.Context, e ending) {
	lines := f.slash.lines
	f.slash.stop()
	f.out.forget(f.slash.call.id)
	f.slash = slash{}
	if errors.Is(e.err, context.Canceled) {
		e.err = errors.New("interrupted")
		if len(lines) > 0 {
			e.err = errors.New("interrupted; " + amount.Of(len(lines), "line", "lines") + " entered meanwhile dropped")
			lines = nil
		}
	}
	f.carryOut(ctx, e)
	for i, line := range lines {
		if f.gone(ctx) || f.next != nil {
			f.keyboard.entered = append(f.keyboard.entered, lines[i:]...)
			return
		}
		if f.slash.call != nil {
			f.slash.lines = append(f.slash.lines, lines[i:]...)
			break
		}
		f.enter(ctx, line)
	}
	if f.ended && !f.busy() {
		f.quit()
	}
	f.resume()
}

// queue has a prompt that a command stands for answered: when the turn that runs has ended.
func (f runner) queue(ctx context.Context, p session.Prompt) {
	if f.working && f.submit(ctx, p) {
		f.out.say("It is sent when the model has finished.")
		return
	}
	f.say(ctx, p)
}
