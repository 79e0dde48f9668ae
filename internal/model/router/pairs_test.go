package router_test

import (
	"net/http"
	"strings"
	"testing"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/chat"
	"adze/internal/model/chat/chattest"
	"adze/internal/model/gemini"
	"adze/internal/model/gemini/geminitest"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest"
	"adze/internal/model/responses"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/retry"
	"adze/internal/model/router"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestEveryPair checks that any conversation can be continued by a model with another dialect,
// within a turn and after it: signed reasoning is sent to no other model, and each result is
// matched to its call, even if the other server would reject the call's ID. The servers are as
// strict as the services.
//
// Proves LOOP-28, PROV-10, PROV-41.
func TestEveryPair(t *testing.T) {
	dialects := []struct {
		name    string
		service wire.Service
		server  wire.Server
	}{
		{"messages", wire.Service{Dialect: messages.Dialect{}, Header: http.Header{"Anthropic-Version": {"2023-06-01"}}, KeyHeader: "X-Api-Key"}, messages.Server{}},
		{"chat", wire.Service{Dialect: chat.Dialect{}, KeyHeader: "Authorization"}, chattest.Server{}},
		{"chat with short ids", wire.Service{Dialect: chat.Dialect{ShortIDs: true}, KeyHeader: "Authorization"}, chattest.Server{Dialect: chat.Dialect{ShortIDs: true}}},
		{"responses", wire.Service{Dialect: responses.Dialect{}, KeyHeader: "Authorization"}, responsestest.Server{}},
		{"gemini", wire.Service{Dialect: gemini.Dialect{}, KeyHeader: "X-Goog-Api-Key"}, geminitest.Server{}},
	}
	for _, a := range dialects {
		for _, b := range dialects {
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				one := player(t, a.server, `
expect model gemini-3-first
think I look it up.
use Ping {"n":1}
use Pong {"n":2}
---
repeat 3
error overloaded retry-after=0
---
expect text "Done."
say Back.
`)
				two := player(t, b.server, `
expect model gemini-3-spare
expect text "Ping"
think I look further.
use Pang {"n":3}
---
say Done.
`)
				one.Reason()
				two.Reason()
				open := func(s wire.Service, h http.Handler) func() (model.Provider, error) {
					s.Address = "https://api.example"
					return func() (model.Provider, error) {
						return wire.New(s, wire.Config{APIKey: "a-key-for-both", Transport: modeltest.Transport(h)})
					}
				}
				r := router.New(router.Config{Route: byPrefix, Rows: []router.Backend{
					{Name: "one", Open: open(a.service, one.Handler())}, {Name: "two", Open: open(b.service, two.Handler())},
				}})
				s := session.Open(t.Context(), session.Config{
					ID: "the-session", Provider: retry.New(r, retry.Config{}), Tools: session.Tools{Registry: tool.NewRegistry()},
					Models: session.Models{Main: "one/gemini-3-first", Fallback: "two/gemini-3-spare", Resolve: func(name string) (agent.Model, error) {
						return agent.Model{ID: name, Window: 200_000, Output: 8000, MaxOutput: 8000}, nil
					}},
					Loop: agent.Options{Thinking: model.Thinking{Mode: model.ThinkingAdaptive}},
				})
				for _, text := range []string{"begin", "continue"} {
					after := s.Last()
					submit(t, s, session.Prompt{ID: msg.NewID(), Parts: []msg.Part{&msg.Text{Text: text}}})
					for e := range s.Entries(t.Context(), after, session.Every) {
						if f, ok := e.Event.(session.Finished); ok {
							if f.Ended.Reason != agent.Completed {
								t.Errorf("%s: %+v", text, f.Ended)
							}
							break
						}
					}
				}
			})
		}
	}
}

// TestStrangeIDs checks that call IDs come back as they were sent, even if the next provider
// would not accept them.
func TestStrangeIDs(t *testing.T) {
	ids := []string{"toolu_01", "call|fc_68a1+/=", strings.Repeat("x", 100), strings.Repeat("x", 100) + "y", "函数", "a b"}
	for name, d := range map[string]wire.Server{
		"messages": messages.Server{}, "chat": chattest.Server{}, "short": chattest.Server{Dialect: chat.Dialect{ShortIDs: true}},
		"responses": responsestest.Server{}, "gemini": geminitest.Server{},
	} {
		req := &model.Request{Model: "m", MaxTokens: 1000, Tools: []msg.ToolSpec{{Name: "Ping", Schema: []byte(`{"type":"object"}`)}}}
		req.Messages = []msg.Message{msg.UserText("go")}
		var uses, results []msg.Part
		for i, id := range ids {
			uses = append(uses, &msg.ToolUse{ID: id, Name: "Ping", Input: []byte(`{}`)})
			results = append(results, &msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: "result " + string(rune('a'+i))}}})
		}
		req.Messages = append(req.Messages, msg.Message{Role: msg.Assistant, Parts: uses}, msg.Message{Role: msg.User, Parts: results})
		body, err := d.NewEncoder().EncodeBody(req, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := d.Check(nil, body.Bytes()); err != nil {
			t.Errorf("%s: the server refuses it: %v\n%s", name, err, body.Bytes())
		}
	}
}
