package label

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

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

// Proves LOOP-32, X-136.
func TestLabel(t *testing.T) {
	var uses []*msg.ToolUse
	for i := range 30 {
		uses = append(uses, msg.NewToolUse(fmt.Sprint(i), "Read", `{"file_path":"`+strings.Repeat("x", 1000)+`"}`))
	}
	for _, tt := range []struct {
		name, small, answer string
		uses                []*msg.ToolUse
		want                string
		asked               int
	}{
		{"labelled", "small", "Read the parser", uses, "Read the parser", 1},
		{"decorated", "small", "**\"Read the parser.\"**\n", uses, "Read the parser", 1},
		{"no small model", "main", "x", uses, "", 0},
		{"no calls", "small", "x", nil, "", 0},
		{"empty", "small", " ", uses, "", 1},
	} {
		m := &mind{answer: tt.answer}
		l := &Labeller{Small: small(m, tt.small), Language: func() texts.Language { return texts.English }}
		if got := l.Label(t.Context(), tt.uses); got != tt.want || len(m.asked) != tt.asked {
			t.Errorf("%s: %q, asked %d times", tt.name, got, len(m.asked))
		}
		for _, q := range m.asked {
			if len(q) > 4000 {
				t.Errorf("%s: %d bytes", tt.name, len(q))
			}
		}
	}
	m := &mind{answer: strings.Repeat("长", 200)}
	l := &Labeller{Small: small(m, "small"), Language: func() texts.Language { return texts.Chinese }}
	if got := l.Label(t.Context(), uses); utf8.RuneCountInString(got) > maxLabel {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
	m.err, m.asked = &model.Error{Kind: model.Overloaded}, nil
	for range 10 {
		if got := l.Label(t.Context(), uses); got != "" {
			t.Error(got)
		}
	}
	if len(m.asked) != 3 {
		t.Errorf("asked %d times", len(m.asked))
	}
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}

func small(m *mind, name string) *aside.Small {
	return &aside.Small{Asker: aside.Asker{Provider: m}, Models: func() (string, string) { return name, "main" }}
}
