package gist

import (
	"context"
	"iter"
	"strings"
	"testing"

	"adze/internal/agent/aside"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// A mind answers every question alike.
type mind struct {
	answer string
	err    error
	asked  []string
}

func (m *mind) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m.asked = append(m.asked, msg.PlainText(req.Messages[0].Parts))
	return func(yield func(model.Event, error) bool) {
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		_ = yield(model.BlockDone{Part: &msg.Text{Text: m.answer}}, nil) && yield(model.Stop{Reason: model.StopEnd}, nil)
	}
}

func small(m *mind, name string) *aside.Small {
	return &aside.Small{Asker: aside.Asker{Provider: m}, Models: func() (string, string) { return name, "main" }}
}

// What the model reads is bounded, and so is its line. Nothing is asked without steps or without a small model, and no more
// after three failures.
//
// Proves AGENT-40.
func TestTell(t *testing.T) {
	var steps []string
	for range 40 {
		steps = append(steps, "Read "+strings.Repeat("x", 1000))
	}
	for _, tt := range []struct {
		name, small, answer string
		steps               []string
		want                string
		asked               int
	}{
		{"told", "small", "**Reading the tests.**", steps, "Reading the tests", 1},
		{"long", "small", strings.Repeat("long ", 100), steps, "", 1},
		{"no small model", "main", "x", steps, "", 0},
		{"no steps", "small", "x", nil, "", 0},
		{"empty", "small", " ", steps, "", 1},
	} {
		m := &mind{answer: tt.answer}
		teller := &Teller{Small: small(m, tt.small), Language: func() texts.Language { return texts.English }}
		got := teller.Tell(t.Context(), "look around", tt.steps)
		if tt.name == "long" {
			if n := len([]rune(got)); n == 0 || n > maxGist {
				t.Errorf("%s: %d characters", tt.name, n)
			}
		} else if got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
		if len(m.asked) != tt.asked {
			t.Errorf("%s: asked %d times", tt.name, len(m.asked))
		}
		for _, q := range m.asked {
			if len(q) > 4000 || !strings.Contains(q, "look around") {
				t.Errorf("%s: asked %d bytes", tt.name, len(q))
			}
		}
	}
	m := &mind{err: &model.Error{Kind: model.Overloaded}}
	teller := &Teller{Small: small(m, "small"), Language: func() texts.Language { return texts.English }}
	for range 9 {
		teller.Tell(t.Context(), "look around", steps)
	}
	if len(m.asked) != 3 {
		t.Errorf("asked %d times after failures", len(m.asked))
	}
}
