package controller

import "context"

// A Suggestion is an offer by adze itself, shown as a numbered question while idle. It never
// consumes a key that types a message, and disappears when the user sends one.
type Suggestion struct {
	// Title names the subject in a few words, and Body is what the user should know to answer
	// the question. Both may be empty.
	Title, Body, Question string
	Answers               []string
	// Later is the neutral answer. It is preselected, and given by Esc.
	Later int
	// Answer executes the chosen answer and returns a message for the user, which may be empty.
	Answer func(ctx context.Context, chosen int) (string, error)
}

// lookForSuggestion looks for a suggestion in the background.
func (d *Driver) lookForSuggestion(ctx context.Context, suggest func(context.Context) *Suggestion) {
	if suggest == nil {
		return
	}
	found := make(chan *Suggestion, 1)
	go func() { found <- suggest(ctx) }()
	d.found = found
}

// suggestible returns the suggestion's channel, or nil while a question would disturb.
func (d *Driver) suggestible() <-chan *Suggestion {
	if d.Busy() || len(d.questions.asked) > 0 || d.questions.offer != nil || d.followed != nil || d.view.Typing() {
		return nil
	}
	return d.found
}
