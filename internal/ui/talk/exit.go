package talk

import (
	"context"
	"time"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/session"
)

// A parting is how far the user is on the way out.
type parting struct {
	leaving bool   // the next Ctrl-C exits
	warned  bool   // the user knows which tasks would end
	ended   bool   // the input has ended: the running turn is the last
	unsaid  string // the id of the prompt that the next interruption takes back; may be empty
}

// An exit is how the user leaves a conversation, or what goes on in it.
type exit struct{ *Driver }

// Exit leaves the program, unless tasks run that would end with it: then the user has to confirm.
func (d *Driver) Exit() {
	if (exit{d}).confirmed() {
		d.Quit()
	}
}

// confirmed reports whether the conversation can be left. If background tasks run, the user is told once.
func (d exit) confirmed() bool {
	tasks := running(d.talk.Tasks)
	if len(tasks) == 0 || d.warned {
		return true
	}
	d.warned = true
	d.view.Say(amount.Of(len(tasks), "background task is still running and would be ended:", "background tasks are still running and would be ended:"))
	d.view.Page(desk.Page{Blocks: []desk.Block{desk.TaskTable(tasks...)}})
	d.view.Say("Ctrl-D or the same command again stops them and exits.")
	d.view.Ready()
	return false
}

// Interrupt interrupts the turn and its questions, as Ctrl-C does. The second time in a row it exits. Typing says that the
// user was typing something, which is dropped.
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
		exit{d}.stopping("Interrupting; Ctrl-C again exits")
		d.Submit(ctx, session.Interrupt{Queued: true, Unsay: d.unsaid})
	case typing:
		d.leaving = false
		d.view.Ready()
	default:
		d.leaving = true
		d.view.Say("Press Ctrl-C again to exit, or use Ctrl-D or /exit.")
		d.view.Ready()
	}
}

// stopping shows that the turn is being interrupted, until it has ended.
func (d exit) stopping(title string) {
	d.tips.stopped = time.Now()
	d.view.Over(stopCall)
	d.view.Began(stopCall, title)
}

// Stop stops what is in the way or goes on, as Esc does, and reports whether there was anything.
func (d *Driver) Stop(ctx context.Context) bool {
	switch {
	case d.Decline():
	case d.followed != nil:
		d.unfollow()
	case d.slash.cancel(), d.typed.cancel():
	case d.working:
		exit{d}.stopping("Interrupting")
		d.Submit(ctx, session.Interrupt{Queued: true, Unsay: d.unsaid})
	default:
		return false
	}
	return true
}

// StopsTurn reports whether [Driver.Stop] would stop the turn.
func (d *Driver) StopsTurn() bool {
	return d.working && d.offer == nil && d.followed == nil && !d.Calling()
}

// Unsay names the prompt that is taken back if the turn is interrupted and the model has not begun to answer; empty for none.
func (p *parting) Unsay(id string) { p.unsaid = id }

// Leaving reports whether the next Ctrl-C exits.
func (p *parting) Leaving() bool { return p.leaving }

// Stay says that the user does something else than to leave.
func (p *parting) Stay() { p.leaving = false }

// End says that the input has ended: the turn that runs is the last.
func (d *Driver) End() {
	d.unfollow()
	if d.Asking() || !d.Busy() {
		d.Quit()
		return
	}
	d.ended = true
	d.Decline()
}
