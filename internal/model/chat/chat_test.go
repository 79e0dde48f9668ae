package chat_test

import (
	. "adze/internal/model/chat"
	"adze/internal/model/chat/chattest"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func provider(d Dialect) func(t *testing.T, h http.Handler) model.Provider {
	return func(t *testing.T, h http.Handler) model.Provider {
		t.Helper()
		p, err := wire.New(wire.Service{Dialect: d, Address: "https://chat.example/v1", KeyHeader: "Authorization", KeyVariable: "CHAT_KEY"},
			wire.Config{APIKey: "sk-secret-0123456789", Transport: modeltest.Transport(h)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// TestConformance runs the conformance suite with no quirks and with all of them.
//
// Proves PROV-60, PROV-11, PROV-21, PROV-22.
func TestConformance(t *testing.T) {
	answer := func(name string, stop model.StopReason, spell []model.Event, parts ...msg.Part) modeltest.Answer {
		return modeltest.Answer{Name: name, Spell: modeltest.Events(spell...), Want: modeltest.Reply{
			Message: msg.Message{Role: msg.Assistant, Parts: parts}, Usage: msg.Usage{Input: 10, Output: 5}, Stop: stop,
		}}
	}
	// The wire can't express these, or expresses them differently: a call ends an answer, and
	// nothing is signed.
	cannot := []string{"thinking", "redacted thinking", "malformed tool input", "context exceeded", "pause"}
	malformed := msg.NewToolUse("call_1", "Read", `{"path`)
	for name, d := range map[string]Dialect{
		"plain": {},
		"all":   {Developer: true, CompletionLimit: true, Documents: true, Marks: true, CacheKey: true, Parallel: true, NoThinking: "none", Replay: ReplayContent},
	} {
		t.Run(name, func(t *testing.T) {
			signed := ""
			if d.Replay != ReplayNone {
				signed = "chat:"
			}
			s := modeltest.Dialect{Server: chattest.Server{Dialect: d}, Cannot: cannot, Answers: []modeltest.Answer{
				answer("thinking", model.StopEnd, []model.Event{model.ThinkingDelta{Text: "H"}, model.ThinkingDelta{Text: "m."}, model.TextDelta{Block: 1, Text: "So."}},
					&msg.Thinking{Text: "Hm.", Signature: signed}, &msg.Text{Text: "So."}),
				answer("malformed tool input", model.StopTools, []model.Event{model.BlockDone{Part: malformed}}, malformed),
			}}
			modeltest.Run(t, s, provider(d))
		})
	}
}
