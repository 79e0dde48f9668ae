package mute

import (
	"context"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

type sink struct{ got *model.Request }

func (s *sink) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	s.got = req
	return func(func(model.Event, error) bool) {}
}

func TestMute(t *testing.T) {
	text := func(s string) msg.Part { return &msg.Text{Text: s} }
	result := func(id, s string) msg.Part { return &msg.ToolResult{ID: id, Parts: []msg.Part{text(s)}} }
	said := []msg.Message{
		{Role: msg.User, Parts: []msg.Part{text("What about /m?"), msg.Reminder("[memory: /m/a.md]\nIt freezes."), msg.Reminder("Today.\nSee /m/a.md.")}},
		{Role: msg.Assistant, Parts: []msg.Part{msg.NewToolUse("1", "Read", `{"file_path":"/m/a.md","limit":3}`), msg.NewToolUse("2", "Read", `{"file_path":"x"}`), msg.NewToolUse("3", "List", `{}`)}},
		{Role: msg.User, Parts: []msg.Part{result("1", "It freezes."), result("2", "x"), result("3", "/m/a.md")}},
		{Role: msg.User, Parts: []msg.Part{msg.Reminder("/m/b.md")}},
	}
	want := []msg.Message{
		{Role: msg.User, Parts: []msg.Part{text("What about /m?"), msg.Reminder("Today.\nSee /m/a.md.")}},
		{Role: msg.Assistant, Parts: []msg.Part{msg.NewToolUse("1", "Read", `{"file_path":"-","limit":3}`), msg.NewToolUse("2", "Read", `{"file_path":"x"}`), msg.NewToolUse("3", "List", `{}`)}},
		{Role: msg.User, Parts: []msg.Part{result("1", "-"), result("2", "x"), result("3", "-")}},
		{Role: msg.User, Parts: []msg.Part{text("-")}},
	}
	var names []string
	var to sink
	p := New(&to, "-", func() []string { return names })
	send := func() *model.Request {
		for range p.Stream(t.Context(), &model.Request{Messages: said}) {
		}
		return to.got
	}
	if got := send(); &got.Messages[0] != &said[0] {
		t.Error("something is hidden already")
	}
	names = []string{"/m"}
	first := send().Messages
	if diff := cmp.Diff(want, first, cmp.AllowUnexported(msg.ToolUse{})); diff != "" {
		t.Error(diff)
	}
	if again := send().Messages; again[1].Parts[0] != first[1].Parts[0] || again[2].Parts[0] != first[2].Parts[0] {
		t.Error("other parts stand for the same ones: encoders begin again")
	}
	if diff := cmp.Diff("It freezes.", msg.PlainText(said[2].Parts[0].(*msg.ToolResult).Parts)); diff != "" {
		t.Error("the conversation itself was changed")
	}
}
