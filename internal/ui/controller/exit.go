package controller

import (
	"context"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
)

// An exitState tracks the user's progress toward exiting.
type exitState struct {
	leaving bool   // the next Ctrl-C exits
	warned  bool   // the user has been warned which tasks would end
	ended   bool   // the input has ended: the running turn is the last
	unsaid  string // ID of the prompt withdrawn by the next interrupt; may be empty
}

// Exit exits the program. If tasks that would end with it are running, the user has to confirm.
func (d *Driver) Exit() {
	if d.mayLeave() {
		d.Quit()
	}
}

// mayLeave reports whether the conversation can be left. If background tasks are running, the
// user is warned once.
func (d *Driver) mayLeave() bool {
	tasks := running(d.talk.Tasks)
	if len(tasks) == 0 || d.warned {
		return true
	}
	d.warned = true
	d.view.Say(amount.Of(len(tasks), "background task is still running and would be ended:", "background tasks are still running and would be ended:"))
	d.view.Page(commands.Page{Blocks: []commands.Block{commands.TaskTable(tasks...)}})
	d.view.Say("Ctrl-D or the same command again stops them and exits.")
	d.view.Ready()
	return false
}

// Interrupt interrupts the turn and its questions, as Ctrl-C does. The second call in a row
// exits. Typing is true if the user was typing something, which is dropped.
func (d *Driver) Interrupt(ctx context.Context, typing bool) {
	offered := d.Decline()
	typing = offered || typing || d.followed != nil
	d.unfollow()
	switch {
	case d.leaving && !typing:
		d.Quit()
	case d.slash.cancel(), d.typed.cancel():
	case d.working:
		d.leaving = true
		d.showStopping("Interrupting; Ctrl-C again exits")
		d.Submit(ctx, session.Interrupt{Queued: true, WithdrawPrompt: d.unsaid})
	case typing:
		d.leaving = false
		d.view.Ready()
	default:
		d.leaving = true
		d.view.Say("Press Ctrl-C again to exit, or use Ctrl-D or /exit.")
		d.view.Ready()
	}
}

// showStopping shows that the turn is being interrupted, until it has ended.
func (d *Driver) showStopping(title string) {
	d.tips.stopped = time.Now()
	d.view.Over(stopCall)
	d.view.Began(stopCall, title)
}

// Stop dismisses the offered list, stops following a task, or stops the running command or
// turn, as Esc does. It reports whether there was anything to stop.
func (d *Driver) Stop(ctx context.Context) bool {
	switch {
	case d.Decline():
	case d.followed != nil:
		d.unfollow()
	case d.slash.cancel(), d.typed.cancel():
	case d.working:
		d.showStopping("Interrupting")
		d.Submit(ctx, session.Interrupt{Queued: true, WithdrawPrompt: d.unsaid})
	default:
		return false
	}
	return true
}

// StopsTurn reports whether [Driver.Stop] would stop the turn.
func (d *Driver) StopsTurn() bool {
	return d.working && d.questions.offer == nil && d.followed == nil && !d.Calling()
}

// Unsay sets the prompt to withdraw if the turn is interrupted before the model has begun to
// answer; empty means none.
func (p *exitState) Unsay(id string) { p.unsaid = id }

// Leaving reports whether the next Ctrl-C exits.
func (p *exitState) Leaving() bool { return p.leaving }

// Stay resets Leaving because the user does something else.
func (p *exitState) Stay() { p.leaving = false }

// End handles the end of input: the running turn is the last.
func (d *Driver) End() {
	d.unfollow()
	if d.Asking() || !d.Busy() {
		d.Quit()
		return
	}
	d.ended = true
	d.Decline()
}
