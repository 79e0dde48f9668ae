package plain

import (
	"context"
	"strings"
	"time"

	"adze/internal/ui/keys"
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

// show shows what was found, which may be nothing.
func (s *suggestions) show(found *Suggestion, out *printer) {
	s.found, s.shown, s.since = nil, found, time.Now()
	if found != nil {
		out.say(found.Text)
	}
}

// answered returns the suggestion that the input answers, or nil. Either way it is done with.
func (s *suggestions) answered(t input) (answered *Suggestion, yes bool) {
	shown := s.shown
	s.shown = nil
	text := t.line
	switch {
	case shown == nil || t.end:
		return nil, false
	case len(t.events) > 1 || len(t.events) == 1 && (t.events[0].Kind != keys.Press || time.Since(s.since) < settling):
		return nil, false // a text, or its beginning
	case len(t.events) == 1:
		text = t.events[0].Text
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return shown, true
	case "n", "no":
		return shown, false
	}
	return nil, false
}

// suggestible returns where a suggestion arrives, or nil while it would disturb.
func (f *Front) suggestible() <-chan *Suggestion {
	if f.busy() || len(f.asked) > 0 || f.offer != nil || f.followed != nil || !f.keyboard.Empty() || f.keyboard.partial != "" {
		return nil
	}
	return f.suggestions.found
}

// decides handles input that answers a suggestion, and reports whether it does.
func (f *Front) decides(ctx context.Context, t input) bool {
	s, yes := f.suggestions.answered(t)
	if s == nil {
		return false
	}
	if t.events == nil {
		f.out.entered()
	}
	if said, err := s.Answer(ctx, yes); err != nil {
		f.out.fail(err)
	} else {
		f.out.say(said)
	}
	f.prompt()
	return true
}
