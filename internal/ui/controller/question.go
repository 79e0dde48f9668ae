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

// questions holds the open questions, which it shows one after the other, and the offered list.
type questions struct {
	screen QuestionView
	asked  []Question       // unanswered questions; the first one is shown
	held   bool             // the first question is not shown yet: the user is typing or choosing, or see effect
	effect <-chan time.Time // fires when the last answer has taken effect on other questions; may be nil
	offer  *commands.List   // list the user may choose from; may be nil
	chosen bool             // the current answer results from a choice
}

// Asking reports whether a question is shown to the user.
func (q *questions) Asking() bool { return len(q.asked) > 0 && !q.held }

// Held reports whether a question waits until the user has finished something else.
func (q *questions) Held() bool { return len(q.asked) > 0 && q.held && q.effect == nil }

// add adds a question of the session.
func (q *questions) add(ev session.Asked) {
	q.postpone()
	q.asked = append(q.asked, Question{ID: ev.ID, Question: ev.Question})
	if len(q.asked) == 1 {
		q.held = true
		q.show()
	}
}

// show shows the held question, unless the user is typing or choosing something else: typed
// text must not become the answer.
func (q *questions) show() {
	if !q.held || q.effect != nil || q.offer != nil || q.screen.Holding() {
		return
	}
	q.held = false
	if len(q.asked) > 0 {
		q.screen.Ask(q.asked[0])
	}
}

// take removes the first question and returns it.
func (q *questions) take() Question {
	first := q.asked[0]
	q.asked = q.asked[1:]
	return first
}

// effectTime is how long the next question waits after an answer that may also have answered
// it.
const effectTime = 250 * time.Millisecond

// answered shows the next question after an answer.
func (q *questions) answered(r session.Reply) {
	if len(q.asked) == 0 {
		return
	}
	q.held = true
	if a, ok := r.(session.Decision); ok && len(a.Updates) > 0 {
		q.effect = time.After(effectTime)
		return
	}
	q.show()
}

// effective shows the next question once the last answer has taken effect.
func (q *questions) effective() {
	q.effect = nil
	q.show()
}

// settle removes a question that was answered elsewhere or withdrawn.
func (q *questions) settle(ev session.Settled) {
	for i, asked := range q.asked {
		if asked.ID != ev.ID {
			continue
		}
		shown := i == 0 && !q.held
		q.asked = append(q.asked[:i], q.asked[i+1:]...)
		if shown {
			q.screen.Settled(asked, ev)
			q.held = true
			q.show()
		}
		return
	}
}

// suggest adds a suggestion.
func (q *questions) suggest(s *Suggestion) {
	q.asked = append(q.asked, Question{Suggestion: s})
	q.held = true
	q.show()
}

// Suggested returns the current suggestion, or nil.
func (q *questions) Suggested() *Suggestion {
	if !q.Asking() {
		return nil
	}
	return q.asked[0].Suggestion
}

// postpone withdraws the suggestion because the user does something else.
func (q *questions) postpone() {
	if len(q.asked) == 0 || q.asked[0].Suggestion == nil {
		return
	}
	shown := !q.held
	q.asked, q.held = q.asked[1:], false
	if shown {
		q.screen.Postponed()
	}
}

// Offered returns the list the user may choose from, or nil.
func (q *questions) Offered() *commands.List { return q.offer }

// Chosen reports whether the current answer results from a choice in a list.
func (q *questions) Chosen() bool { return q.chosen }

// Reoffer offers a list again, when the user returns to it from the result of a choice.
func (q *questions) Reoffer(l commands.List) {
	q.Decline()
	q.offer = &l
}

// Decline dismisses the offered list, and reports whether there was one.
func (q *questions) Decline() bool {
	list := q.offer
	q.offer = nil
	if list != nil && list.Leave != nil {
		list.Leave()
	}
	return list != nil
}

// Answer answers the current question.
func (d *Driver) Answer(ctx context.Context, r session.Reply) {
	if !d.Asking() || d.Suggested() != nil {
		return
	}
	q := d.questions.take()
	d.tips.answered(q.Question, r)
	if err := d.talk.Submit(ctx, session.Answer{ID: q.ID, Reply: r}); err != nil {
		d.view.Say("The question has already been answered.")
	}
	d.questions.answered(r)
}

// Respond answers the current suggestion with the chosen answer, or with [Suggestion.Later] if
// chosen is -1.
func (d *Driver) Respond(ctx context.Context, chosen int) {
	s := d.Suggested()
	if s == nil {
		return
	}
	d.questions.take()
	d.questions.held = len(d.questions.asked) > 0
	if chosen < 0 {
		chosen = s.Later
	}
	said, err := s.Answer(ctx, chosen)
	switch {
	case err != nil:
		d.view.Fail(err)
	case said != "":
		d.view.Say(said)
	}
	d.view.Ready()
	d.questions.show()
}
