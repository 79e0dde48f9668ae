package responses_test

import (
	"net/http"
	"testing"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/responses"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func provider(t *testing.T, h http.Handler) model.Provider {
	t.Helper()
	s := wire.Service{Dialect: responses.Dialect{}, Address: "https://api.openai.com/v1", KeyHeader: "Authorization", KeyVariable: "OPENAI_API_KEY"}
	p, err := wire.New(s, wire.Config{APIKey: "key", Transport: modeltest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConformance runs the conformance suite. The omitted cases cannot be expressed, or are
// expressed differently: a call determines the stop reason, reasoning carries the data needed
// to send it back, and cache writes have no price.
//
// Proves PROV-60, PROV-11, PROV-14.
func TestConformance(t *testing.T) {
	used := msg.Usage{Input: 10, Output: 5}
	reply := func(stop model.StopReason, u msg.Usage, parts ...msg.Part) modeltest.Reply {
		return modeltest.Reply{Message: msg.Message{Role: msg.Assistant, Parts: parts}, Usage: u, Stop: stop}
	}
	sealed := `responses:{"type":"reasoning","id":"rs_msg_1_0","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"c2ln"}`
	phase := func(name string) msg.Part { return &msg.Thinking{Signature: `responses:{"phase":"` + name + `"}`} }
	bare := `responses:{"type":"reasoning","id":"rs_msg_1_0","summary":[],"encrypted_content":"eA=="}`
	modeltest.Run(t, modeltest.Dialect{
		Server: responsestest.Server{},
		Cannot: []string{"malformed tool input", "thinking", "redacted thinking", "cache usage", "context exceeded", "pause"},
		Answers: []modeltest.Answer{
			{Name: "malformed arguments", Spell: modeltest.Events(
				model.InputDelta{ID: "call_1", Name: "Read", JSON: `{"path`}, model.BlockDone{Part: msg.NewToolUse("call_1", "Read", `{"path`)},
			), Want: reply(model.StopTools, used, msg.NewToolUse("call_1", "Read", `{"path`))},
			{Name: "reasoning", Spell: modeltest.Events(
				model.ThinkingDelta{Text: "Hm."}, model.ThinkingDelta{Signature: "c2ln"}, model.BlockDone{Part: &msg.Thinking{Text: "Hm.", Signature: "c2ln"}},
				model.TextDelta{Block: 1, Text: "So."}, model.BlockDone{Block: 1, Part: &msg.Text{Text: "So."}},
			), Want: reply(model.StopEnd, used, &msg.Thinking{Text: "Hm.", Signature: sealed}, &msg.Text{Text: "So."})},
			{Name: "phases", Spell: modeltest.Events(
				model.BlockDone{Part: phase("commentary")}, model.TextDelta{Block: 1, Text: "Look"}, model.TextDelta{Block: 1, Text: "ing."}, model.BlockDone{Block: 1, Part: &msg.Text{Text: "Looking."}},
				model.BlockDone{Block: 2, Part: msg.NewToolUse("call_1", "Read", "{}")}, model.BlockDone{Block: 3, Part: phase("final_answer")}, model.BlockDone{Block: 4, Part: &msg.Text{Text: "So."}},
			), Want: reply(model.StopTools, used, phase("commentary"), &msg.Text{Text: "Looking."}, msg.NewToolUse("call_1", "Read", "{}"), phase("final_answer"), &msg.Text{Text: "So."})},
			{Name: "hidden reasoning", Spell: modeltest.Events(model.BlockDone{Part: &msg.Redacted{Data: "eA=="}}),
				Want: reply(model.StopEnd, used, &msg.Thinking{Signature: bare})},
			{Name: "cached input", Spell: modeltest.Events(model.TextDelta{Text: "cheap"}, model.BlockDone{Part: &msg.Text{Text: "cheap"}}),
				Want: reply(model.StopEnd, msg.Usage{Input: 10, CacheRead: 300, Output: 5}, &msg.Text{Text: "cheap"})},
		},
	}, provider)
}
