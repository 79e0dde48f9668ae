package controller

import (
	"context"
	"time"

	"adze/internal/commands"
	"adze/internal/session"
)

// A Question is a session's question or a suggestion for the user to answer.
type Question struct {
	ID string
	session.Question
	Suggestion *Suggestion // nil if the session asks
}

// A questionQueue holds the user's open questions and the offered list.
type questionQueue struct {
	asked  []Question       // unanswered questions; the first one is shown
	held   bool             // the first question is not shown yet: the user is typing or choosing, or see effect
	effect <-chan time.Time // fires when the last answer has taken effect on other questions; may be nil
	offer  *commands.List   // list the user may choose from; may be nil
	chosen bool             // the current answer results from a choice
}

// Asking reports whether a question is shown to the user.
func (q *questionQueue) Asking() bool { return len(q.asked) > 0 && !q.held }

// Held reports whether a question waits until the user has finished something else.
func (q *questionQueue) Held() bool { return len(q.asked) > 0 && q.held && q.effect == nil }

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

// openQuestion shows the held question, unless the user is typing or choosing something else:
// typed text must not become the answer.
func (d asker) openQuestion() {
	if !d.held || d.effect != nil || d.offer != nil || d.view.Holding() {
		return
	}
	d.held = false
	if len(d.asked) > 0 {
		d.view.Ask(d.asked[0])
	}
}

// effectTime is how long the next question waits after an answer that may also have answered
// it.
const effectTime = 250 * time.Millisecond

// Answer answers the current question.
func (d *Driver) Answer(ctx context.Context, r session.Reply) {
	if !d.Asking() || d.Suggested() != nil {
		return
	}
	q := d.asked[0]
	d.asked = d.asked[1:]
	tipAdvisor{d}.answered(q.Question, r)
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
