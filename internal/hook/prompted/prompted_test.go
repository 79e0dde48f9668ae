package prompted

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"adze/internal/agent/sidequery"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A mind is a fake model that answers with a text in which %s is the seal.
type mind struct {
	answer string
	asked  []*model.Request
}

func (m *mind) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m.asked = append(m.asked, req)
	return func(yield func(model.Event, error) bool) {
		_, rest, _ := strings.Cut(msg.PlainText(req.System), "the seal ")
		text := strings.ReplaceAll(m.answer, "%s", rest[:12])
		_ = yield(model.BlockDone{Part: &msg.Text{Text: text}}, nil) && yield(model.Stop{Reason: model.StopEnd}, nil)
	}
}

// Proves HOOK-05.
func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		answer string
		want   hook.Opinion
		ok     bool
	}{
		{`{"seal":"%s","reason":"","ok":true,"additionalContext":""}`, hook.Opinion{OK: true}, true},
		{`{"seal":"%s","ok":true}`, hook.Opinion{OK: true}, true},
		{`{"seal":"%s","ok":false,"reason":"Tests are missing."}`, hook.Opinion{Reason: "Tests are missing."}, true},
		{`{"seal":"%s","ok":true,"additionalContext":"Mind the style."}`, hook.Opinion{OK: true, Context: "Mind the style."}, true},
		{`{"seal":"%s","ok":"true"}`, hook.Opinion{}, false},
		{`{"seal":"%s","ok":null}`, hook.Opinion{}, false},
		{`{"seal":"%s"}`, hook.Opinion{}, false},
		{`{"seal":"%s","ok":true,"reason":["x"]}`, hook.Opinion{}, false},
		{`{"ok":true}`, hook.Opinion{}, false},
		{`{"seal":"%s","ok":false,"ok":true}`, hook.Opinion{}, false},
		{`ok`, hook.Opinion{}, false},
		{``, hook.Opinion{}, false},
	} {
		m := &mind{answer: tt.answer}
		c := newConfig(m)
		got, err := c.Ask(t.Context(), hook.PromptRequest{Prompt: "Are there tests? $ARGUMENTS Look closely.", Input: json.RawMessage(`{"x":"$ARGUMENTS"}`)})
		if got != tt.want || (err == nil) != tt.ok || err != nil && !errors.Is(err, sidequery.ErrUnusable) {
			t.Errorf("%s: %+v, %v", tt.answer, got, err)
		}
		text := msg.PlainText(m.asked[0].Messages[0].Parts)
		if !strings.HasPrefix(text, "Are there tests? <event seal=") || !strings.HasSuffix(text, "> Look closely.") || !strings.Contains(text, "\n{\"x\":\"$ARGUMENTS\"}\n") {
			t.Error(text)
		}
		if m.asked[0].Model != "small" {
			t.Error(m.asked[0].Model)
		}
	}
}

func newConfig(m *mind) Config {
	return Config{
		Small: &sidequery.SmallModel{Asker: sidequery.Asker{Provider: m}, Models: func() (string, string) { return "small", "main" }},
		Resolve: func(name string) (string, error) {
			if name == "nobody" {
				return "", errors.New("there is no model nobody")
			}
			return "id-of-" + name, nil
		},
		Language: func() texts.Language { return texts.English },
	}
}

func TestNamedModel(t *testing.T) {
	m := &mind{answer: `{"seal":"%s","ok":true}`}
	if _, err := newConfig(m).Ask(t.Context(), hook.PromptRequest{Prompt: "Fine?", Model: "haiku"}); err != nil || m.asked[0].Model != "id-of-haiku" {
		t.Errorf("%v, %+v", err, m.asked)
	}
	if text := msg.PlainText(m.asked[0].Messages[0].Parts); !strings.HasPrefix(text, "Fine?\n\n<event") {
		t.Error(text)
	}
	if _, err := newConfig(m).Ask(t.Context(), hook.PromptRequest{Prompt: "x", Model: "nobody"}); err == nil || len(m.asked) != 1 {
		t.Error(err)
	}
	if _, err := newConfig(m).Ask(t.Context(), hook.PromptRequest{Prompt: "x", Input: make(json.RawMessage, maxInput+1)}); err == nil || len(m.asked) != 1 {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
