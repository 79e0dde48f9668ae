package tui

import (
	"context"
	"time"

	"adze/internal/desk"
	"adze/internal/session"
	"adze/internal/ui/keys"
)

// Remarks are what the small model says to the user beside the conversation: what was done while they were away, and what
// they may type next, which the composer shows.
type remarks struct {
	turn       bool               // a turn runs, and no chore
	news       bool               // a turn has ended since the user was told what was done
	away, next context.CancelFunc // drop what is being asked for; nil before anything was
}

// drop drops a remark that is being asked for.
func drop(stop context.CancelFunc) {
	if stop != nil {
		stop()
	}
}

// A remarker has remarks made, and shows them.
type remarker struct{ *Front }

// begin forgets what was asked for in another conversation.
func (f remarker) begin(said int) {
	f.dismiss()
	f.remarks.news = said > 0
}

// dismiss drops what is asked for, and what the user may type next: they do something else.
func (f remarker) dismiss() {
	drop(f.remarks.away)
	f.forget()
}

// forget drops what the user may type next.
func (f remarker) forget() {
	drop(f.remarks.next)
	f.keyboard.Ghost = ""
}

// entry notes which turns begin and end.
func (f remarker) entry(e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		f.dismiss()
		f.remarks.turn = !ev.Note && !ev.Chore
	case session.Finished:
		if f.remarks.turn {
			f.remarks.turn, f.remarks.news = false, true
			f.ended(ev)
		}
	}
}

// ended asks what to say after a turn, unless it was stopped or has failed.
func (f remarker) ended(ev session.Finished) {
	if !ev.Reason.OK() {
		return
	}
	f.back(f.footer.watch.Away(time.Now()))
	if can := f.can(); can.Next != nil && f.free() {
		f.ask(&f.remarks.next, can.Next, func(line string) {
			if f.free() {
				f.keyboard.Ghost = line
			}
		})
	}
}

// can returns what can be asked for.
func (f remarker) can() desk.Remarks {
	c := f.Conversation()
	if c == nil {
		return desk.Remarks{}
	}
	return c.Surroundings.Remarks
}

// free reports whether the user can type the next message, and has not begun to.
func (f remarker) free() bool {
	return !f.Closed() && !f.Working() && !f.Asking() && f.outbox.Empty() && f.keyboard.Empty()
}

// back asks what was done if the user has been away for long enough, a turn has ended since they were told last, and none
// runs.
func (f remarker) back(away time.Duration) {
	can := f.can()
	if !f.remarks.news || can.Away == nil || away < can.After() || f.Working() {
		return
	}
	f.remarks.news = false
	f.ask(&f.remarks.away, can.Away, func(text string) { f.script.Page(desk.Page{Blocks: []desk.Block{desk.Remark(text)}}) })
}

// ask asks for a remark beside the front end, and shows it unless it was dropped meanwhile.
func (f remarker) ask(stop *context.CancelFunc, remark func(context.Context) string, show func(string)) {
	ctx, cancel := context.WithCancel(f.ctx)
	drop(*stop)
	*stop = cancel
	f.beside(func() func() {
		text := remark(ctx)
		return func() {
			if ctx.Err() == nil && text != "" {
				show(text)
			}
			cancel()
		}
	})
}

// press handles a key that is pressed while something may be typed next: one takes it, to be edited, and any other makes
// it vanish. It reports whether the key was meant for it.
func (f remarker) press(ev keys.Event) bool {
	if ev.Kind != keys.Press && ev.Kind != keys.Paste {
		return false
	}
	line := f.keyboard.Ghost
	f.forget()
	if line == "" || !f.keyboard.Empty() {
		return false
	}
	action, _ := new(keys.Chord).Press(f.keyboard.typing.Bindings(), ev, keys.Chat)
	if action != keys.Right && action != keys.Complete {
		return false
	}
	f.keyboard.Set(line)
	f.edited()
	return true
}
