package remark

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

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

func maker(m *mind, small string) *Maker {
	return &Maker{
		Small:    &sidequery.SmallModel{Asker: sidequery.Asker{Provider: m}, Models: func() (string, string) { return small, "main" }},
		Language: func() texts.Language { return texts.English },
	}
}

func entries(messages ...msg.Message) (all []msg.Entry) {
	for _, m := range messages {
		all = append(all, msg.Entry{Message: m})
	}
	return all
}

func answer(parts ...msg.Part) msg.Message { return msg.Message{Role: msg.Assistant, Parts: parts} }

var talked = entries(
	msg.Message{Role: msg.User, Parts: []msg.Part{msg.Reminder("REMINDER"), &msg.Text{Text: "Round once."}}},
	answer(&msg.Thinking{Text: "THOUGHT"}, &msg.Text{Text: "I look."}, msg.NewToolUse("1", "Read", `{"file_path":"cart.go"}`)),
	msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "1", Parts: []msg.Part{&msg.Text{Text: "RESULT"}}}}},
	answer(&msg.Text{Text: "Done. Run the tests?"}),
)

// TestExcerpt checks that the model gets a quoted excerpt of messages and calls.
//
// Proves.
func TestExcerpt(t *testing.T) {
	want := "User: Round once.\nAgent: I look.\nCall: Read {\"file_path\":\"cart.go\"}\nAgent: Done. Run the tests?"
	if diff := cmp.Diff(want, excerpt(talked)); diff != "" {
		t.Error(diff)
	}
	hidden := entries(msg.UserText("HIDDEN"))
	hidden[0].Hidden = true
	if got := excerpt(append(hidden, talked...)); got != want {
		t.Errorf("got %q", got)
	}
	for _, char := range []string{"x", "长", "😀"} {
		var long []msg.Entry
		for range 50 {
			long = append(long, entries(msg.UserText(strings.Repeat(char, 10_000)), answer(&msg.Text{Text: "LAST"}, msg.NewToolUse("1", "Read", `{"a":"`+strings.Repeat(char, 5000)+`"}`)))...)
		}
		got := excerpt(long)
		if len(got) > maxExcerpt || !strings.Contains(got, "Agent: LAST") || !strings.Contains(got, "User: "+char) || !utf8.ValidString(got) {
			t.Errorf("%d bytes of %s: %.50q", len(got), char, got)
		}
	}
}

// Proves X-136.
func TestAway(t *testing.T) {
	for _, tt := range []struct {
		name, small, answer string
		err                 error
		said                []msg.Entry
		asked               int
		want                string
	}{
		{"said", "small", "Rounds once in cart.go.\nNext: run the tests.", nil, talked, 1, "Rounds once in cart.go. Next: run the tests."},
		{"hostile", "small", "Done\x1b[2J.\u202e", nil, talked, 1, "Done[2J."},
		{"long", "small", strings.Repeat("长", 1000), nil, talked, 1, strings.Repeat("长", maxAway-1) + "…"},
		{"empty", "small", " ", nil, talked, 1, ""},
		{"failed", "small", "", errors.New("broken"), talked, 1, ""},
		{"no small model", "main", "x", nil, talked, 0, ""},
		{"nothing said", "small", "x", nil, nil, 0, ""},
	} {
		m := &mind{answer: tt.answer, err: tt.err}
		if got := maker(m, tt.small).Away(t.Context(), tt.said); got != tt.want || len(m.asked) != tt.asked {
			t.Errorf("%s: %q, asked %d times", tt.name, got, len(m.asked))
		}
		if tt.asked > 0 {
			req := m.asked[0]
			if text := msg.PlainText(req.Messages[0].Parts); req.Model != "small" || !strings.Contains(text, "Round once.") || !req.Background || len(req.Messages) != 1 {
				t.Errorf("%s: %+v", tt.name, req)
			}
		}
	}
}

// TestNext checks that a suggestion is a short message and never a command.
//
// Proves X-134.
func TestNext(t *testing.T) {
	for answer, want := range map[string]string{
		"Run the tests.":                 "Run the tests.",
		"\"run the tests\"\n":            "run the tests",
		"运行测试":                           "运行测试",
		"-":                              "",
		"—":                              "",
		"":                               "",
		"/clear":                         "",
		"!rm -rf ~":                      "",
		"# forget":                       "",
		"`!rm -rf ~`":                    "",
		"run\nrm":                        "",
		"run\x1b[2J":                     "",
		"run \u202egnirts":               "",
		strings.Repeat("x", maxNext+1):   "",
		strings.Repeat("a ", maxWords+1): "",
	} {
		m := &mind{answer: answer}
		if got := maker(m, "small").Next(t.Context(), talked); got != want {
			t.Errorf("%q became %q", answer, got)
		}
	}
	if m := (&mind{answer: "x"}); maker(m, "main").Next(t.Context(), talked) != "" || len(m.asked) > 0 {
		t.Error("uses the main model")
	}
}

// TestGivenUp checks that each kind is given up separately when it keeps failing, and that a
// canceled request is not counted.
func TestGivenUp(t *testing.T) {
	m := &mind{err: errors.New("broken")}
	k := maker(m, "small")
	dropped, drop := context.WithCancel(t.Context())
	drop()
	for range 5 {
		k.Away(dropped, talked)
	}
	before := len(m.asked)
	for range 5 {
		k.Away(t.Context(), talked)
	}
	if n := len(m.asked) - before; n != 3 {
		t.Errorf("asked %d times", n)
	}
	m.err, m.answer = nil, "go on"
	if k.Next(t.Context(), talked) != "go on" || k.Away(t.Context(), talked) != "" {
		t.Error("one kind decides about the other")
	}
}
