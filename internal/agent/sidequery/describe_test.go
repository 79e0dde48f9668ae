package sidequery

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A mind gives the same answer to every question, except for those it is set to fail.
type mind struct {
	answer string
	fails  string // substring of the questions that fail
	asked  []string
}

func (m *mind) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	question := msg.PlainText(req.Messages[0].Parts)
	m.asked = append(m.asked, question)
	return func(yield func(model.Event, error) bool) {
		if m.fails != "" && strings.Contains(question, m.fails) {
			yield(nil, &model.Error{Kind: model.Overloaded})
			return
		}
		_ = yield(model.BlockDone{Part: &msg.Text{Text: m.answer}}, nil) && yield(model.Stop{Reason: model.StopEnd}, nil)
	}
}

func describer(m *mind, small string) *Describer {
	return &Describer{
		Small:    &SmallModel{Asker: Asker{Provider: m}, Models: func() (string, string) { return small, "main" }},
		Language: func() texts.Language { return texts.English },
	}
}

func manyUses() (all []*msg.ToolUse) {
	for i := range 30 {
		all = append(all, msg.NewToolUse(fmt.Sprint(i), "Read", `{"file_path":"`+strings.Repeat("x", 1000)+`"}`))
	}
	return all
}

func manySteps() (all []string) {
	for range 40 {
		all = append(all, "Read "+strings.Repeat("x", 1000))
	}
	return all
}

// TestDescribeCalls checks that the model's input and its one-line answer are bounded, and that
// no question is sent without calls or a small model.
//
// Proves LOOP-32, X-136.
func TestDescribeCalls(t *testing.T) {
	for _, tt := range []struct {
		name, small, answer string
		uses                []*msg.ToolUse
		want                string
		asked               int
	}{
		{"described", "small", "Read the parser", manyUses(), "Read the parser", 1},
		{"decorated", "small", "**\"Read the parser.\"**\n", manyUses(), "Read the parser", 1},
		{"no small model", "main", "x", manyUses(), "", 0},
		{"no calls", "small", "x", nil, "", 0},
		{"empty", "small", " ", manyUses(), "", 1},
		{"long", "small", strings.Repeat("长", 200), manyUses(), strings.Repeat("长", maxDescription-1) + "…", 1},
	} {
		m := &mind{answer: tt.answer}
		got := describer(m, tt.small).Calls(t.Context(), tt.uses)
		if got != tt.want || len(m.asked) != tt.asked || utf8.RuneCountInString(got) > maxDescription {
			t.Errorf("%s: %q, asked %d times", tt.name, got, len(m.asked))
		}
		for _, q := range m.asked {
			if len(q) > 4000 || !strings.Contains(q, "Read") {
				t.Errorf("%s: asked %d bytes", tt.name, len(q))
			}
		}
	}
}

// TestDescribeAgent checks that the model's input and its one-line answer are bounded, and that
// no question is sent without steps or a small model.
//
// Proves AGENT-40.
func TestDescribeAgent(t *testing.T) {
	for _, tt := range []struct {
		name, small, answer string
		steps               []string
		want                string
		asked               int
	}{
		{"described", "small", "**Reading the tests.**", manySteps(), "Reading the tests", 1},
		{"long", "small", strings.Repeat("longer ", 100), manySteps(), strings.Repeat("longer ", 11) + "lo…", 1},
		{"no small model", "main", "x", manySteps(), "", 0},
		{"no steps", "small", "x", nil, "", 0},
		{"empty", "small", " ", manySteps(), "", 1},
	} {
		m := &mind{answer: tt.answer}
		got := describer(m, tt.small).Agent(t.Context(), "look around", tt.steps)
		if got != tt.want || len(m.asked) != tt.asked {
			t.Errorf("%s: %q, asked %d times", tt.name, got, len(m.asked))
		}
		for _, q := range m.asked {
			if len(q) > 4000 || !strings.Contains(q, "look around") {
				t.Errorf("%s: asked %d bytes", tt.name, len(q))
			}
		}
	}
}

// TestDescribeGivesUp checks that a description that failed three times in a row is not
// requested again, independently of the other kind.
//
// Proves LOOP-32, AGENT-40.
func TestDescribeGivesUp(t *testing.T) {
	for _, fails := range []string{"<calls", "<agent"} {
		m := &mind{answer: "Done", fails: fails}
		d := describer(m, "small")
		for range 9 {
			d.Calls(t.Context(), manyUses())
			d.Agent(t.Context(), "look around", manySteps())
		}
		failed := 0
		for _, q := range m.asked {
			if strings.Contains(q, fails) {
				failed++
			}
		}
		if failed != maxFailures || len(m.asked) != 9+maxFailures {
			t.Errorf("%s was called %d of %d times", fails, failed, len(m.asked))
		}
	}
}
