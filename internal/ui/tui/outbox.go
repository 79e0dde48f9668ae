package tui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/edit"
	"adze/internal/ui/tui/compose"
	"adze/internal/ui/tui/transcript"
)

// An outbox holds sent messages that may come back to the composer: the queued ones, and the
// last one until the model answers it. It saves what has not been sent.
type outbox struct {
	driver   *controller.Driver
	keyboard *keyboard
	script   *transcript.Transcript

	compose.Queue
	last *compose.QueuedMessage // nil once the model has begun to answer
}

// reset forgets the messages of another conversation.
func (o *outbox) reset() { o.Queue, o.last = compose.Queue{}, nil }

// save saves the draft and the queued messages, which the model has not received.
func (o *outbox) save() { o.keyboard.save(o.driver.Conversation(), o.Drafts()) }

// entry tracks which messages the model receives, and whether it answers.
func (o *outbox) entry(e session.Entry) {
	loop, ok := e.Event.(session.Loop)
	if _, ended := e.Event.(session.Finished); ended {
		o.last = nil
		o.driver.After(forgotten, func(context.Context) { o.settle() })
	}
	if !ok {
		return
	}
	switch ev := loop.Event.(type) {
	case agent.Appended:
		delivered := o.Delivered(ev.Entry.Message.Parts)
		for _, w := range delivered {
			o.script.Prompt(w.Draft.Text(), w.Draft.Brief())
			o.last = nil
		}
		if len(delivered) > 0 {
			o.save()
		}
	case agent.Delta, agent.ToolStarted:
		o.last = nil
	}
}

// forgotten is how long after a turn a queued message counts as rejected.
const forgotten = time.Second

// settle returns queued messages that will not be sent, because a hook rejected them or the
// turn was stopped, to the composer.
func (o *outbox) settle() {
	if o.driver.Closed() || o.driver.Busy() || o.Empty() {
		return
	}
	if o.driver.Asking() { // the question may concern such a message's attachment
		o.driver.After(forgotten, func(context.Context) { o.settle() })
		return
	}
	var back []*edit.Draft
	for _, w := range o.Drain() {
		back = append(back, w.Draft)
	}
	o.putBack(back)
}

// putBack returns drafts to the composer, before the typed text.
func (o *outbox) putBack(drafts []*edit.Draft) {
	if len(drafts) > 0 && !o.driver.Closed() {
		o.keyboard.PutBack(edit.Join(append(drafts, o.keyboard.Draft())...))
		o.edited()
	}
}

// takeBack withdraws the last queued message for editing.
func (o *outbox) takeBack(ctx context.Context) {
	w, ok := o.Last()
	if ok && o.withdraw(ctx, w) {
		o.keyboard.PutBack(w.Draft)
		o.edited()
	}
}

// withdraw withdraws a message from the session, and reports whether it was still possible.
func (o *outbox) withdraw(ctx context.Context, w compose.QueuedMessage) bool {
	return o.driver.Conversation().Submit(ctx, session.Withdraw{ID: w.ID}) == nil
}

// stop calls stop, which reports whether there was anything to stop. If it stops the turn, the
// queued messages return to the composer, and so does a message the model has not begun to
// answer, which is removed from the conversation.
func (o *outbox) stop(ctx context.Context, turn bool, stop func() bool) bool {
	var back []*edit.Draft
	if turn {
		if last := o.last; last != nil {
			back = append(back, last.Draft)
			o.driver.Unsay(last.ID)
		}
		for _, w := range o.Drain() {
			if o.withdraw(ctx, w) {
				back = append(back, w.Draft)
			}
		}
		o.last = nil
	}
	stopped := stop()
	o.driver.Unsay("")
	o.putBack(back)
	return stopped
}

// settled is the delay after the last key before the draft is saved. unsaved is the maximum
// delay after the first key, which limits the loss during continuous typing.
const (
	settled = 500 * time.Millisecond
	unsaved = 2 * time.Second
)

// edited schedules saving the draft.
func (o *outbox) edited() {
	k := o.keyboard
	if k.typed.IsZero() {
		k.typed = time.Now()
	}
	k.due.Stop()
	k.due = o.driver.After(min(settled, time.Until(k.typed.Add(unsaved))), func(context.Context) { o.save() })
}

// editText returns the text as edited by the user, even if the editor fails.
func (o *outbox) editText(text string) (string, error) {
	file, err := os.CreateTemp("", "adze-message-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", err
	}
	o.save()
	failed := o.driver.Edit(file.Name())
	data, err := os.ReadFile(file.Name())
	if err != nil {
		err = fmt.Errorf("reading the edited text: %w", err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), cmp.Or(failed, err)
}
