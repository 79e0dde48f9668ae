package plain

import (
	"context"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/session"
)

// An exit is how the user leaves a conversation, or what goes on in it.
type exit struct{ *Front }

// ask leaves the program, unless tasks run that would end with it: then the user has to confirm.
func (f exit) ask() {
	if f.confirmed() {
		f.out.fresh()
		f.quit()
	}
}

// confirmed reports whether the conversation can be left. If background tasks run, the user is told once.
func (f exit) confirmed() bool {
	tasks := running(f.talk.Tasks)
	if len(tasks) == 0 || f.warned {
		return true
	}
	f.warned = true
	f.out.say(amount.Of(len(tasks), "background task is still running and would be ended:", "background tasks are still running and would be ended:"))
	f.out.page(desk.Page{Blocks: []desk.Block{desk.TaskTable(tasks...)}})
	f.out.say("To leave all the same, press Ctrl-D or enter the command again.")
	f.prompt()
	return false
}

// interrupt interrupts the turn and its questions. The second time in a row it exits.
func (f exit) interrupt(ctx context.Context) {
	typing := f.keyboard.forget(f.asking()) || f.followed != nil || f.offer != nil
	f.offer = nil
	f.unfollow()
	switch {
	case f.leave:
		f.quit()
	case f.slash.cancel(), f.typed.cancel():
	case f.working:
		f.leave = true
		f.out.say("Interrupting. Press Ctrl-C again to exit.")
		f.submit(ctx, session.Interrupt{Queued: true})
	case typing:
		f.prompt()
	default:
		f.leave = true
		f.out.say("Press Ctrl-C again to exit, or use Ctrl-D or /exit.")
		f.prompt()
	}
}
