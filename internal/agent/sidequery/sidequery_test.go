package sidequery

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

// A script gives the same answer to every question.
type script struct {
	events []model.Event
	err    error
	wait   bool // block until the question is canceled
	asked  []*model.Request
}

func (s *script) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	s.asked = append(s.asked, req)
	return func(yield func(model.Event, error) bool) {
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
		if s.wait {
			<-ctx.Done()
			yield(nil, ctx.Err())
		} else if s.err != nil {
			yield(nil, s.err)
		}
	}
}

func says(stop model.StopReason, parts ...msg.Part) []model.Event {
	events := []model.Event{model.Start{}}
	for i, p := range parts {
		events = append(events, model.BlockDone{Block: i, Part: p})
	}
	return append(events, model.Usage{Usage: msg.Usage{Input: 7, Output: 2}}, model.Stop{Reason: stop})
}

func TestWords(t *testing.T) {
	text := &msg.Text{Text: "Yes."}
	tests := []struct {
		name   string
		events []model.Event
		want   string
		err    error
		kind   model.Kind
	}{
		{"text", says(model.StopEnd, &msg.Text{Text: "Yes.\n"}), "Yes.", nil, 0},
		{"with reasoning", says(model.StopEnd, &msg.Thinking{Text: "Hm."}, text), "Yes.", nil, 0},
		{"a call", says(model.StopTools, text, msg.NewToolUse("1", "Do", "{}")), "", ErrUnusable, 0},
		{"cut off", says(model.StopMaxTokens, text), "", ErrUnusable, 0},
		{"empty", says(model.StopEnd), "", ErrUnusable, 0},
		{"blank", says(model.StopEnd, &msg.Text{Text: " \n"}), "", ErrUnusable, 0},
		{"refused", says(model.StopRefusal), "", nil, model.Refused},
		{"too long", says(model.StopContextExceeded), "", nil, model.TooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := Asker{Provider: &script{events: tt.events}}
			answer, err := a.Ask(t.Context(), Question{Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := answer.Words()
			if got != tt.want || tt.err != nil && !errors.Is(err, tt.err) || tt.kind != 0 && model.KindOf(err) != tt.kind || tt.want != "" && err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestAsk checks that a question's cost is recorded whether it succeeds or fails, and that it
// ends in time.
func TestAsk(t *testing.T) {
	broken := &model.Error{Kind: model.Overloaded}
	tests := []struct {
		name   string
		script script
		cancel time.Duration
		booked int
		want   string // expected error
		took   time.Duration
	}{
		{"answered", script{events: says(model.StopEnd, &msg.Text{Text: "x"})}, 0, 7, "", 0},
		{"broken off", script{events: says(model.StopEnd)[:2], err: broken}, 0, 7, broken.Error(), 0},
		{"failed", script{err: broken}, 0, 0, broken.Error(), 0},
		{"never answered", script{wait: true}, 0, 0, "the model did not answer within 1m0s", time.Minute},
		{"cancelled", script{wait: true, events: says(model.StopEnd)[:2]}, time.Second, 7, context.Canceled.Error(), time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				booked := 0
				a := Asker{&tt.script, func(purpose, id string, u msg.Usage, took time.Duration) {
					booked += u.Input
					if purpose != "tests" || id != "m" || took != tt.took {
						t.Errorf("%s took %v", id, took)
					}
				}}
				began := time.Now()
				_, err := a.Ask(ctx, Question{Purpose: "tests", Model: "m", Timeout: time.Minute})
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
					t.Errorf("got %v", err)
				}
				if booked != tt.booked || time.Since(began) != tt.took {
					t.Errorf("%d tokens were booked after %v", booked, time.Since(began))
				}
				if !tt.script.asked[0].Background {
					t.Error("nobody waits for it")
				}
			})
		})
	}
}

func TestAbout(t *testing.T) {
	text := func(s string) msg.Part { return &msg.Text{Text: s} }
	answer := msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Thinking{Text: "Hm."}, text("Three.")}}
	got := About([]msg.Message{msg.UserText("How many?"), answer}, "Sum it up.")
	want := []msg.Message{msg.UserText("How many?"), {Role: msg.Assistant, Parts: []msg.Part{text("Three.")}}, msg.UserText("Sum it up.")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(answer.Parts) != 2 {
		t.Error("the conversation itself was changed")
	}
}

// TestConversationQuestion checks that a question about a conversation repeats its request and
// appends to it.
func TestConversationQuestion(t *testing.T) {
	text := func(s string) msg.Part { return &msg.Text{Text: s} }
	said := msg.Message{Role: msg.User, Parts: []msg.Part{text("Look."), &msg.Image{MediaType: "image/png", Data: []byte("x")}}}
	answer := msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Thinking{Text: "Hm.", Signature: "s"}, text("Three.")}}
	for _, tt := range []struct {
		name     string
		since    []msg.Message
		thinking model.Thinking
		limit    int // request's output limit
		want     []msg.Message
		passing  int
		tokens   int
	}{
		{"before the answer", nil, model.Thinking{}, 5000,
			[]msg.Message{{Role: msg.User, Parts: append(said.Parts[:2:2], text("Why?"))}}, 1, 1000},
		{"after the answer", []msg.Message{answer}, model.Thinking{Mode: model.ThinkingAdaptive}, 32_000,
			[]msg.Message{said, answer, msg.UserText("Why?")}, 3, 1000 + thinkingRoom},
		{"with a small limit", []msg.Message{answer}, model.Thinking{Mode: model.ThinkingAdaptive}, 500,
			[]msg.Message{said, answer, msg.UserText("Why?")}, 3, 1000},
		{"with a budget", []msg.Message{answer}, model.Thinking{Mode: model.ThinkingBudget, Budget: 2000}, 5000,
			[]msg.Message{said, answer, msg.UserText("Why?")}, 3, 3000},
		{"with a large budget", []msg.Message{answer}, model.Thinking{Mode: model.ThinkingBudget, Budget: 4500}, 5000,
			[]msg.Message{said, answer, msg.UserText("Why?")}, 3, 5000},
	} {
		req := &model.Request{
			Model: "m", System: []msg.Part{text("You.")}, Tools: []msg.ToolSpec{{Name: "Do"}}, Messages: []msg.Message{said},
			Effort: model.EffortHigh, Thinking: tt.thinking, Cache: []model.Mark{{Place: model.InMessages}}, MaxTokens: tt.limit, UserID: "u",
		}
		want := Question{
			Model: "m", System: req.System, Tools: req.Tools, Messages: tt.want, Effort: model.EffortHigh, Thinking: tt.thinking,
			Cache: req.Cache, Passing: tt.passing, MaxTokens: tt.tokens, UserID: "u",
		}
		got := Conversation{Request: req, Since: tt.since}.Question("Why?", 1000)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if len(req.Messages) != 1 || len(req.Messages[0].Parts) != 2 {
			t.Errorf("%s: the request itself was changed", tt.name)
		}
		s := &script{events: says(model.StopEnd, text("So."))}
		if _, err := (&Asker{Provider: s}).Ask(t.Context(), got); err != nil {
			t.Fatal(err)
		}
		if r := s.asked[0]; r.Effort != want.Effort || r.Thinking != want.Thinking || !cmp.Equal(r.Cache, want.Cache) || r.Passing != want.Passing {
			t.Errorf("%s: %+v was sent", tt.name, r)
		}
	}
}

func TestFailures(t *testing.T) {
	var f Failures
	for i, err := range []error{errors.New("x"), errors.New("x"), nil, errors.New("x"), errors.New("x"), errors.New("x")} {
		if f.TooMany() {
			t.Fatalf("too many after %d", i)
		}
		f.Count(err)
	}
	if !f.TooMany() {
		t.Error("it would be called again")
	}
}
