package talk

import (
	"context"
	"time"
)

// A Suggestion is something that the user accepts or declines with one key, at an empty prompt. Any other input
// puts it off.
type Suggestion struct {
	// Text says what is suggested, and that y accepts and n declines.
	Text string
	// Answer carries out the decision and returns what to tell the user.
	Answer func(ctx context.Context, yes bool) (string, error)
}

// suggestions are looked for beside the first prompt, and wait until they do not disturb.
type suggestions struct {
	found <-chan *Suggestion // nil if nothing is looked for
	shown *Suggestion        // waits for an answer; may be nil
	since time.Time
}

// settling is the time after a suggestion appears in which a key belongs to what the user was about to type.
const settling = 300 * time.Millisecond

// look looks for a suggestion.
func (s *suggestions) look(ctx context.Context, suggest func(context.Context) *Suggestion) {
	if suggest == nil {
		return
	}
	found := make(chan *Suggestion, 1)
	go func() { found <- suggest(ctx) }()
	s.found = found
}

// suggestible returns where a suggestion arrives, or nil while it would disturb.
func (d course) suggestible() <-chan *Suggestion {
	if d.Busy() || len(d.asked) > 0 || d.offer != nil || d.followed != nil || d.view.Typing() {
		return nil
	}
	return d.suggestions.found
}

// suggest shows what was found, which may be nothing.
func (d course) suggest(found *Suggestion) {
	d.suggestions = suggestions{shown: found, since: time.Now()}
	if found != nil {
		d.view.Say(found.Text)
		d.view.Ready()
	}
}

// Settled reports whether a suggestion is shown for long enough that a key can be meant for it.
func (s *suggestions) settled() bool { return time.Since(s.since) >= settling }

// Respond takes the first thing that the user types after a suggestion was shown: text is what a single key types or a
// line holds, and anything else if it was more than that. It reports whether that answers the suggestion, which is done
// with in any case. Key says that it was a key.
func (d *Driver) Respond(ctx context.Context, text string, key bool) bool {
	s := d.suggestions.shown
	d.suggestions.shown = nil
	if s == nil || key && !d.suggestions.settled() {
		return false
	}
	var yes bool
	switch text {
	case "y", "Y", "yes", "Yes", "YES":
		yes = true
	case "n", "N", "no", "No", "NO":
	default:
		return false
	}
	if said, err := s.Answer(ctx, yes); err != nil {
		d.view.Fail(err)
	} else {
		d.view.Say(said)
	}
	d.view.Ready()
	return true
}

// Suggested reports whether a suggestion waits for an answer.
func (d *Driver) Suggested() bool { return d.suggestions.shown != nil }
