package controller

import "context"

// A Suggestion is an offer by adze itself, shown as a numbered question while idle. It never
// consumes a key that types a message, and disappears when the user sends one.
type Suggestion struct {
	Text    string
	Answers []string
	// Later is the neutral answer. It is preselected, and given by Esc.
	Later int
	// Answer executes the chosen answer and returns a message for the user, which may be empty.
	Answer func(ctx context.Context, chosen int) (string, error)
}

// look looks for a suggestion in the background.
func (d conversationLoop) look(ctx context.Context, suggest func(context.Context) *Suggestion) {
	if suggest == nil {
		return
	}
	found := make(chan *Suggestion, 1)
	go func() { found <- suggest(ctx) }()
	d.found = found
}

// suggestible returns the suggestion's channel, or nil while a question would disturb.
func (d conversationLoop) suggestible() <-chan *Suggestion {
	if d.Busy() || len(d.asked) > 0 || d.offer != nil || d.followed != nil || d.view.Typing() {
		return nil
	}
	return d.found
}

// suggest shows s, which may be nil.
func (d conversationLoop) suggest(s *Suggestion) {
	d.found = nil
	if s != nil {
		d.asked = append(d.asked, Question{Suggestion: s})
		d.held = true
		asker(d).openQuestion()
	}
}

// Suggested returns the current suggestion, or nil.
func (q *questionQueue) Suggested() *Suggestion {
	if !q.Asking() {
		return nil
	}
	return q.asked[0].Suggestion
}

// Respond answers the current suggestion with the chosen answer, or with [Suggestion.Later] if
// chosen is -1.
func (d *Driver) Respond(ctx context.Context, chosen int) {
	s := d.Suggested()
	if s == nil {
		return
	}
	d.asked = d.asked[1:]
	d.held = len(d.asked) > 0
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
	asker{d}.openQuestion()
}

// postpone withdraws the suggestion because the user does something else.
func (d asker) postpone() {
	if len(d.asked) == 0 || d.asked[0].Suggestion == nil {
		return
	}
	shown := !d.held
	d.asked, d.held = d.asked[1:], false
	if shown {
		d.view.Postponed()
	}
}
