package tui

import (
	"context"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/edit"
	"adze/internal/ui/tui/compose"
)

// An outbox holds sent messages that may come back: the queued ones, and the last one until the
// model answers it.
type outbox struct {
	compose.Queue
	last *compose.QueuedMessage // nil once the model has begun to answer
}

// A sender sends typed messages and withdraws them.
type sender struct{ *Front }

// send sends the typed message. If later is true, it gets a turn of its own.
func (f sender) send(ctx context.Context, later bool) {
	text, draft := f.keyboard.Text(), f.keyboard.Draft()
	e := controller.Input{Text: text, Later: later}
	if controller.IsMessage(text) {
		prompt, err := f.prompt(text)
		if err != nil {
			view(f).Fail(err)
			return
		}
		e.Prompt = prompt
		w := compose.QueuedMessage{ID: prompt.ID, Part: prompt.Parts[0], Later: later, Draft: draft}
		if f.Working() {
			f.outbox.Add(w)
		} else {
			f.outbox.last = &w
		}
	}
	if !f.Working() || len(e.Prompt.Parts) == 0 {
		if controller.IsCommand(text) {
			f.script.Command(text)
		} else {
			f.script.Prompt(text, draft.Brief())
		}
	}
	f.keyboard.Clear()
	f.keyboard.Unstash()
	f.popup.Close()
	remarker(f).dismiss()
	if !f.outbox.Empty() {
		f.store()
	}
	f.Stay()
	f.Hand(ctx, e)
}

// store saves the draft and the queued messages, which the model has not received.
func (f sender) store() { f.keyboard.save(f.Conversation(), f.outbox.Drafts()) }

// prompt returns the message with its images.
func (f sender) prompt(text string) (session.Prompt, error) {
	p := session.Prompt{ID: msg.NewID(), Parts: []msg.Part{&msg.Text{Text: text}}}
	if f.cfg.Typing.Pictures == nil {
		return p, nil
	}
	for _, image := range f.keyboard.Images() {
		part, err := f.cfg.Typing.Pictures.Part(image)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, part)
	}
	return p, nil
}

// entry tracks which messages the model receives, and whether it answers.
func (f sender) entry(e session.Entry) {
	loop, ok := e.Event.(session.Loop)
	if _, ended := e.Event.(session.Finished); ended {
		f.outbox.last = nil
		f.After(forgotten, func(context.Context) { f.settle() })
	}
	if !ok {
		return
	}
	switch ev := loop.Event.(type) {
	case agent.Appended:
		told := f.outbox.Told(ev.Entry.Message.Parts)
		for _, w := range told {
			f.script.Prompt(w.Draft.Text(), w.Draft.Brief())
			f.outbox.last = nil
		}
		if len(told) > 0 {
			f.store()
		}
	case agent.Delta, agent.ToolStarted:
		f.outbox.last = nil
	}
}

// forgotten is how long after a turn a queued message counts as rejected.
const forgotten = time.Second

// settle returns queued messages that will not be sent, because a hook rejected them or the
// turn was stopped, to the composer.
func (f sender) settle() {
	if f.Closed() || f.Busy() || f.outbox.Empty() {
		return
	}
	if f.Asking() { // the question may concern such a message's attachment
		f.After(forgotten, func(context.Context) { f.settle() })
		return
	}
	var back []*edit.Draft
	for _, w := range f.outbox.Drain() {
		back = append(back, w.Draft)
	}
	f.putBack(back)
}

// putBack returns drafts to the composer, before the typed text.
func (f sender) putBack(drafts []*edit.Draft) {
	if len(drafts) > 0 && !f.Closed() {
		f.keyboard.PutBack(edit.Join(append(drafts, f.keyboard.Draft())...))
		f.edited()
	}
}

// takeBack withdraws the last queued message for editing.
func (f sender) takeBack(ctx context.Context) {
	w, ok := f.outbox.Last()
	if ok && f.withdraw(ctx, w) {
		f.keyboard.PutBack(w.Draft)
		f.edited()
	}
}

// withdraw withdraws a message from the session, and reports whether it was still possible.
func (f sender) withdraw(ctx context.Context, w compose.QueuedMessage) bool {
	return f.Conversation().Submit(ctx, session.Withdraw{ID: w.ID}) == nil
}

// stop calls stop, which reports whether there was anything to stop. If it stops the turn, the
// queued messages return to the composer, and so does a message the model has not begun to
// answer, which is removed from the conversation.
func (f sender) stop(ctx context.Context, turn bool, stop func() bool) bool {
	var back []*edit.Draft
	if turn {
		if last := f.outbox.last; last != nil {
			back = append(back, last.Draft)
			f.Unsay(last.ID)
		}
		for _, w := range f.outbox.Drain() {
			if f.withdraw(ctx, w) {
				back = append(back, w.Draft)
			}
		}
		f.outbox.last = nil
	}
	stopped := stop()
	f.Unsay("")
	f.putBack(back)
	return stopped
}
