package title

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A mind gives the same answer to every question.
type mind struct {
	answer string
	err    error
	asked  []*model.Request
}

func (m *mind) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m.asked = append(m.asked, req)
	return func(yield func(model.Event, error) bool) {
		if m.err != nil {
			yield(nil, m.err)
			return
		}
		_ = yield(model.BlockDone{Part: &msg.Text{Text: m.answer}}, nil) && yield(model.Stop{Reason: model.StopEnd}, nil)
	}
}

func says(parts ...string) []msg.Part {
	var all []msg.Part
	for _, p := range parts {
		all = append(all, &msg.Text{Text: p})
	}
	return append(all, msg.Reminder("REMINDER"))
}

// Proves SESS-24, X-136.
func TestName(t *testing.T) {
	long := "Please find out why the parser is slow on large files, and make it faster without changing its results."
	for _, tt := range []struct {
		name   string
		said   []msg.Part
		answer string
		err    error
		titled bool
		small  string
		asked  int
		want   string
	}{
		{"named", says(long), "Speed up the parser", nil, false, "small", 1, "Speed up the parser"},
		{"with decoration", says(long), "\"**Speed up the parser**.\"\n", nil, false, "small", 1, "Speed up the parser"},
		{"several lines", says("Fix this:\npanic at x.go"), "Fix a panic", nil, false, "small", 1, "Fix a panic"},
		{"short words name themselves", says("Fix the parser."), "x", nil, false, "small", 0, ""},
		{"nothing said", says(), "x", nil, false, "small", 0, ""},
		{"has a title", says(long), "x", nil, true, "small", 0, ""},
		{"no small model", says(long), "x", nil, false, "main", 0, ""},
		{"overloaded", says(long), "", &model.Error{Kind: model.Overloaded}, false, "small", 1, ""},
		{"an essay", says(long), strings.Repeat("word ", 30), nil, false, "small", 1, ""},
		{"two lines", says(long), "A\nB", nil, false, "small", 1, ""},
		{"JSON", says(long), `{"title":"A"}`, nil, false, "small", 1, ""},
		{"empty", says(long), " ", nil, false, "small", 1, ""},
		{"quotes only", says(long), `""`, nil, false, "small", 1, ""},
	} {
		m := &mind{answer: tt.answer, err: tt.err}
		kept := ""
		n := New(Config{
			Small:    &sidequery.SmallModel{Asker: sidequery.Asker{Provider: m}, Models: func() (string, string) { return tt.small, "main" }},
			Language: func() texts.Language { return texts.English }, Titled: func() bool { return tt.titled || kept != "" },
			Keep: func(title string) error { kept = title; return nil },
		})
		if f := n.Prefetch(tt.said); f != nil && f(t.Context()) != nil {
			t.Errorf("%s: it adds to the conversation", tt.name)
		}
		if kept != tt.want || len(m.asked) != tt.asked {
			t.Errorf("%s: %q, asked %d times", tt.name, kept, len(m.asked))
		}
		for _, req := range m.asked {
			if text := msg.PlainText(req.Messages[0].Parts); strings.Contains(text, "REMINDER") || req.Model != "small" || !req.Background || len(req.Tools) > 0 {
				t.Errorf("%s: %+v", tt.name, req)
			}
		}
	}
}

// TestTries checks that a session is named once, with a limited number of attempts, and that a
// title set in the meantime stays.
func TestTries(t *testing.T) {
	m := &mind{err: errors.New("gone")}
	titled := false
	n := New(Config{
		Small:    &sidequery.SmallModel{Asker: sidequery.Asker{Provider: m}, Models: func() (string, string) { return "small", "main" }},
		Language: func() texts.Language { return texts.Chinese }, Titled: func() bool { return titled },
		Keep: func(string) error { t.Error("kept"); return nil },
	})
	long := says(strings.Repeat("很长的消息。", 2000))
	for range 10 {
		if f := n.Prefetch(long); f != nil {
			f(t.Context())
		}
	}
	if len(m.asked) != maxTries {
		t.Errorf("asked %d times", len(m.asked))
	}
	if size := len([]rune(msg.PlainText(m.asked[0].Messages[0].Parts))); size > maxSaid+100 {
		t.Errorf("%d characters", size)
	}
	m.err, m.answer, n.tries = nil, "标题", 0
	f := n.Prefetch(long)
	titled = true // simulate /rename
	f(t.Context())
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
