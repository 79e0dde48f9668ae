package talk

import (
	"context"
	"time"

	"adze/internal/desk"
	"adze/internal/session"
)

// A Question is a session's question or a suggestion for the user to answer.
type Question struct {
	ID string
	session.Question
	Suggestion *Suggestion // nil if the session asks
}

// An inquiry is what the user is to answer, or may choose from.
type inquiry struct {
	asked  []Question       // without an answer yet; the first one is shown
	held   bool             // it is not shown yet: the user is typing or choosing, or see effect
	effect <-chan time.Time // when the last answer has had its effect on the others; may be nil
	offer  *desk.List       // the user may choose from it; may be nil
	chosen bool             // what is being carried out comes of a choice
}

// Asking reports whether the user is to answer a question, which is shown.
func (q *inquiry) Asking() bool { return len(q.asked) > 0 && !q.held }

// Held reports whether a question waits until the user has finished something else.
func (q *inquiry) Held() bool { return len(q.asked) > 0 && q.held && q.effect == nil }

// An asker shows questions, one after the other.
type asker struct{ *Driver }

// ask adds a question.
func (d asker) ask(ev session.Asked) {
	d.postpone()
	d.asked = append(d.asked, Question{ID: ev.ID, Question: ev.Question})
	if len(d.asked) == 1 {
		d.held = true
		d.openQuestion()
	}
}

// openQuestion shows the question that waits, unless the user is typing or choosing something else: what is typed must
// not become the answer.
func (d asker) openQuestion() {
	if !d.held || d.effect != nil || d.offer != nil || d.view.Holding() {
		return
	}
	d.held = false
	if len(d.asked) > 0 {
		d.view.Ask(d.asked[0])
	}
}

// effectTime is how long the next question waits after an answer that may have answered it, too.
const effectTime = 250 * time.Millisecond

// Answer answers the question that is shown.
func (d *Driver) Answer(ctx context.Context, r session.Reply) {
	if !d.Asking() || d.Suggested() != nil {
		return
	}
	q := d.asked[0]
	d.asked = d.asked[1:]
	tipper{d}.answered(q.Question, r)
	if err := d.talk.Submit(ctx, session.Answer{ID: q.ID, Reply: r}); err != nil {
		d.view.Say("The question has already been answered.")
	}
	if len(d.asked) == 0 {
		return
	}
	d.held = true
	if a, ok := r.(session.Decision); ok && len(a.Updates) > 0 {
		d.effect = time.After(effectTime)
		return
	}
	asker{d}.openQuestion()
}

// settle removes a question that was answered elsewhere or withdrawn.
func (d asker) settle(ev session.Settled) {
	for i, q := range d.asked {
		if q.ID != ev.ID {
			continue
		}
		shown := i == 0 && !d.held
		d.asked = append(d.asked[:i], d.asked[i+1:]...)
		if shown {
			d.view.Settled(q, ev)
			d.held = true
			d.openQuestion()
		}
		return
	}
}
