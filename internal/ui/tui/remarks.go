package tui

import (
	"context"
	"time"

	"adze/internal/commands"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/keys"
	"adze/internal/ui/tui/attention"
	"adze/internal/ui/tui/transcript"
)

// remarks requests texts that the small model generates alongside the conversation, and shows
// them: a summary of the work done while the user was away, and a proposed next message, which
// the composer shows.
type remarks struct {
	driver   *controller.Driver
	keyboard *keyboard
	outbox   *outbox
	script   *transcript.Transcript
	watch    *attention.Watch

	turn       bool               // a turn is running, not a chore
	news       bool               // a turn has ended since the last summary
	away, next context.CancelFunc // cancel the pending requests; nil before the first
}

// drop cancels a pending remark.
func drop(stop context.CancelFunc) {
	if stop != nil {
		stop()
	}
}

// begin discards requests of another conversation.
func (r *remarks) begin(said int) {
	r.dismiss()
	r.news = said > 0
}

// dismiss drops pending requests and the proposed message because the user does something else.
func (r *remarks) dismiss() {
	drop(r.away)
	r.forget()
}

// forget drops the proposed message.
func (r *remarks) forget() {
	drop(r.next)
	r.keyboard.Ghost = ""
}

// entry tracks the start and end of turns.
func (r *remarks) entry(e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		r.dismiss()
		r.turn = !ev.Note && !ev.Chore
	case session.Finished:
		if r.turn {
			r.turn, r.news = false, true
			r.ended(ev)
		}
	}
}

// ended requests remarks after a turn, unless it was stopped or failed.
func (r *remarks) ended(ev session.Finished) {
	if !ev.Reason.OK() {
		return
	}
	r.back(r.watch.Away(time.Now()))
	if can := r.can(); can.Next != nil && r.free() {
		r.ask(&r.next, can.Next, func(line string) {
			if r.free() {
				r.keyboard.Ghost = line
			}
		})
	}
}

// can returns the available remarks.
func (r *remarks) can() commands.Remarks {
	c := r.driver.Conversation()
	if c == nil {
		return commands.Remarks{}
	}
	return c.Env.Remarks
}

// free reports whether the user can type the next message, and has not begun to.
func (r *remarks) free() bool {
	return !r.driver.Closed() && !r.driver.Working() && !r.driver.Asking() && r.outbox.Empty() && r.keyboard.Empty()
}

// back requests a summary if the user has been away long enough, a turn has ended since the
// last summary, and none is running.
func (r *remarks) back(away time.Duration) {
	can := r.can()
	if !r.news || can.Away == nil || away < can.After() || r.driver.Working() {
		return
	}
	r.news = false
	r.ask(&r.away, can.Away, func(text string) { r.script.Page(commands.Page{Blocks: []commands.Block{commands.Remark(text)}}) })
}

// ask requests a remark in the background, and shows it unless it has been dropped in the
// meantime.
func (r *remarks) ask(stop *context.CancelFunc, remark func(context.Context) string, show func(string)) {
	drop(*stop)
	ctx, cancel := context.WithCancel(context.Background())
	*stop = cancel
	r.driver.Background(func(running context.Context) func() {
		defer context.AfterFunc(running, cancel)()
		text := remark(ctx)
		return func() {
			if ctx.Err() == nil && text != "" {
				show(text)
			}
			cancel()
		}
	})
}

// press handles a key while a message is proposed: one key accepts it for editing, and any
// other dismisses it. It reports whether the key was meant for the proposal.
func (r *remarks) press(ev keys.Event) bool {
	if ev.Kind != keys.Press && ev.Kind != keys.Paste {
		return false
	}
	line := r.keyboard.Ghost
	r.forget()
	if line == "" || !r.keyboard.Empty() {
		return false
	}
	action, _ := new(keys.Chord).Press(r.keyboard.typing.Bindings(), ev, keys.Chat)
	if action != keys.Right && action != keys.Complete {
		return false
	}
	r.keyboard.Set(line)
	r.outbox.edited()
	return true
}
