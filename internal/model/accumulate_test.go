package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/msg"
)

func assistant(parts ...msg.Part) msg.Message {
	return msg.Message{Role: msg.Assistant, Parts: parts}
}

func fold(events ...model.Event) *model.Accumulator {
	var a model.Accumulator
	for _, e := range events {
		a.Add(e)
	}
	return &a
}

func TestAccumulator(t *testing.T) {
	hello, use := &msg.Text{Text: "Hello"}, msg.NewToolUse("t1", "Read", `{"a":1}`)
	thought := &msg.Thinking{Text: "hm", Signature: "s"}
	whole := []model.Event{
		model.Start{ID: "msg_1", Model: "m", RequestID: "req_1"},
		model.ThinkingDelta{Block: 0, Text: "hm"}, model.ThinkingDelta{Block: 0, Signature: "s"}, model.BlockDone{Block: 0, Part: thought},
		model.TextDelta{Block: 1, Text: "Hel"}, model.TextDelta{Block: 1, Text: "lo"}, model.BlockDone{Block: 1, Part: hello},
		model.InputDelta{Block: 2, ID: "t1", Name: "Read"}, model.InputDelta{Block: 2, JSON: `{"a":1}`}, model.BlockDone{Block: 2, Part: use},
	}
	tests := []struct {
		name             string
		events           []model.Event
		message, partial msg.Message
	}{
		{"nothing", nil, assistant(), assistant()},
		{"whole", whole, assistant(thought, hello, use), assistant(thought, hello, use)},
		{"cut in the thinking", whole[:2], assistant(), assistant()},
		{"cut before the signed block was complete", whole[:3], assistant(), assistant()},
		{"cut in the text", whole[:5], assistant(thought), assistant(thought, &msg.Text{Text: "Hel"})},
		{"cut between blocks", whole[:7], assistant(thought, hello), assistant(thought, hello)},
		{"cut in the input", whole[:9], assistant(thought, hello), assistant(thought, hello)},
		{
			"empty text",
			[]model.Event{model.BlockDone{Part: &msg.Text{}}, model.BlockDone{Block: 1, Part: hello}, model.TextDelta{Block: 2}},
			assistant(hello), assistant(hello),
		},
		{
			"text of an earlier block does not leak",
			[]model.Event{model.TextDelta{Text: "Hello"}, model.BlockDone{Part: hello}, model.TextDelta{Block: 1, Text: "x"}},
			assistant(hello), assistant(hello, &msg.Text{Text: "x"}),
		},
		{"other events", []model.Event{model.Raw{JSON: []byte("{}")}, model.Retrying{Attempt: 1}}, assistant(), assistant()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := fold(tt.events...)
			for range 2 { // reading has no side effects
				if diff := cmp.Diff(tt.message, a.Message()); diff != "" {
					t.Errorf("Message (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.partial, a.Partial()); diff != "" {
					t.Errorf("Partial (-want +got):\n%s", diff)
				}
			}
			if _, done := a.Stop(); done {
				t.Error("ended without Stop")
			}
		})
	}
}

func TestAccumulatorFacts(t *testing.T) {
	start := model.Start{ID: "msg_1", Model: "m", RequestID: "req_1"}
	a := fold(start,
		model.Usage{Usage: msg.Usage{Input: 10, Output: 1, CacheRead: 5}},
		model.Usage{Usage: msg.Usage{Input: 10, Output: 42}},
		model.Stop{Reason: model.StopTools})
	if a.Started() != start {
		t.Errorf("Started = %+v", a.Started())
	}
	if diff := cmp.Diff(msg.Usage{Input: 10, Output: 42}, a.Usage()); diff != "" {
		t.Errorf("a later usage replaces an earlier one (-want +got):\n%s", diff)
	}
	if stop, done := a.Stop(); stop != model.StopTools || !done {
		t.Errorf("Stop = %q, %v", stop, done)
	}
}

// TestPartialKeepsTheText checks that a text cut off anywhere keeps the part that arrived.
func TestPartialKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a model.Accumulator
		var want string
		for range rapid.IntRange(0, 9).Draw(t, "deltas") {
			d := rapid.String().Draw(t, "delta")
			want += d
			a.Add(model.TextDelta{Text: d})
		}
		if got := a.Partial().Text(); got != want {
			t.Fatalf("kept %q of %q", got, want)
		}
		if m := a.Message(); len(m.Parts) > 0 {
			t.Fatalf("a block that was cut off counts as complete: %v", m.Parts)
		}
	})
}
