package prompted

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"adze/internal/hook"
	"adze/internal/platform/text/texts"
)

// Proves HOOK-05.
func TestChecker(t *testing.T) {
	for _, tt := range []struct {
		answer string
		err    error
		want   hook.Opinion
		ok     bool
	}{
		{`{"ok":true,"reason":""}`, nil, hook.Opinion{OK: true}, true},
		{`{"ok":false,"reason":"There are no tests."}`, nil, hook.Opinion{Reason: "There are no tests."}, true},
		{`{"ok":true,"reason":"","additionalContext":"Mind the style."}`, nil, hook.Opinion{OK: true, Context: "Mind the style."}, true},
		{`{"reason":"x"}`, nil, hook.Opinion{}, false},
		{`{"ok":"true"}`, nil, hook.Opinion{}, false},
		{`null`, nil, hook.Opinion{}, false},
		{``, nil, hook.Opinion{}, false},
		{`{"ok":true,"reason":""}`, errors.New("it took too many turns"), hook.Opinion{}, false},
	} {
		var got Inquiry
		c := Checker{Language: func() texts.Language { return texts.English }, Run: func(_ context.Context, i Inquiry) (json.RawMessage, error) {
			got = i
			return json.RawMessage(tt.answer), tt.err
		}}
		o, err := c.Ask(t.Context(), hook.PromptRequest{Prompt: "Are there tests? $ARGUMENTS", Input: json.RawMessage(`{"x":1}`), Model: "haiku"})
		if o != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s: %+v, %v", tt.answer, o, err)
		}
		if got.Model != "haiku" || got.MaxTurns != 50 || !json.Valid(got.Schema) || !strings.HasPrefix(got.Prompt, "Are there tests? <event seal=") {
			t.Errorf("%+v", got)
		}
		if _, err := c.Ask(t.Context(), hook.PromptRequest{Input: make(json.RawMessage, maxInput+1)}); err == nil {
			t.Error("an event that is too long is asked about")
		}
	}
}
