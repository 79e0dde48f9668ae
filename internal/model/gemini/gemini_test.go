package gemini_test

import (
	. "adze/internal/model/gemini"
	"adze/internal/model/gemini/geminitest"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "AIza-secret-0123456789"

func service(d Dialect) wire.Service {
	return wire.Service{Dialect: d, Address: "https://gemini.example", KeyHeader: "X-Goog-Api-Key", KeyVariable: "GEMINI_API_KEY"}
}

// provider returns a provider connected to h in memory.
func provider(t *testing.T, d Dialect, h http.Handler) *wire.Provider {
	t.Helper()
	p, err := wire.New(service(d), wire.Config{Version: "1.2.3", Transport: modeltest.Transport(h), APIKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Proves PROV-60, PROV-11, PROV-20, PROV-30.
func TestConformance(t *testing.T) {
	used := msg.Usage{Input: 10, Output: 5}
	reply := func(u msg.Usage, stop model.StopReason, parts ...msg.Part) modeltest.Reply {
		return modeltest.Reply{Message: msg.Message{Role: msg.Assistant, Parts: parts}, Usage: u, Stop: stop}
	}
	thinking := []model.Event{model.ThinkingDelta{Text: "H"}, model.ThinkingDelta{Text: "m."}, model.ThinkingDelta{Signature: "c2ln"},
		model.BlockDone{Part: &msg.Thinking{Text: "Hm.", Signature: "c2ln"}}}
	d := modeltest.Dialect{
		Server: geminitest.Server{},
		// Call input is always a complete object; caches are not written to; reasoning is never
		// redacted.
		Cannot: []string{"malformed tool input", "thinking", "redacted thinking", "cache usage", "context exceeded", "pause", "over_window"},
		Answers: []modeltest.Answer{
			{Name: "thinking before a text", Spell: modeltest.Events(append(thinking[:4:4],
				model.TextDelta{Block: 1, Text: "S"}, model.TextDelta{Block: 1, Text: "o."}, model.BlockDone{Block: 1, Part: &msg.Text{Text: "So."}})...),
				Want: reply(used, model.StopEnd, &msg.Thinking{Text: "Hm."}, &msg.Text{Text: "So."}, &msg.Thinking{Signature: "gemini:empty:c2ln"})},
			{Name: "thinking before a call", Spell: modeltest.Events(append(thinking[:4:4],
				model.BlockDone{Block: 1, Part: msg.NewToolUse("call_1", "Read", `{"a":1}`)}, model.BlockDone{Block: 2, Part: msg.NewToolUse("call_2", "Read", ``)})...),
				Want: reply(used, model.StopTools, &msg.Thinking{Text: "Hm.", Signature: "gemini:c2ln"}, msg.NewToolUse("call_1", "Read", `{"a":1}`), msg.NewToolUse("call_2", "Read", ``))},
			{Name: "cached", Spell: modeltest.Events(model.BlockDone{Part: &msg.Text{Text: "cheap"}}),
				Want: reply(msg.Usage{Input: 10, CacheRead: 300, Output: 5}, model.StopEnd, &msg.Text{Text: "cheap"})},
			{Name: "unknown part", Spell: modeltest.Events(model.BlockDone{Part: &msg.Opaque{Raw: []byte(`{"executableCode":{"code":"1+1"}}`)}}),
				Want: reply(used, model.StopEnd, &msg.Opaque{Raw: []byte(`{"type":"gemini_part","part":{"executableCode":{"code":"1+1"}}}`)})},
		},
	}
	modeltest.Run(t, d, func(t *testing.T, h http.Handler) model.Provider { return provider(t, Dialect{}, h) })
}
