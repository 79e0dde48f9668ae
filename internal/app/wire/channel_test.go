package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"adze/internal/agent"
	"adze/internal/mcp/mcptest"
	"adze/internal/mcp/roster"
	"adze/internal/session"
)

// pusher starts a server that sends a message to the conversation with each call of its tool.
func (p *place) pusher(name string) *roster.Entry {
	h := mcptest.NewHandler("only=1")
	h.Intercept = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		var m mcptest.Message
		if json.Unmarshal(body, &m) != nil || m.Method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/claude/channel\",\"params\":{\"content\":\"news of %s\"}}\n\ndata: %s\n\n", name, h.Server.Answer(body))
		return true
	}
	s := httptest.NewServer(h)
	p.T.Cleanup(s.Close)
	return &roster.Entry{Name: name, Given: name, Type: roster.HTTP, URL: s.URL, Raw: json.RawMessage(fmt.Sprintf(`{"type":"http","url":%q}`, s.URL))}
}

// TestChannels checks that a server named in the user's settings can push messages: the user
// sees them immediately, the model with its next request, and they trigger no request. Project
// settings cannot enable other servers.
//
// Proves MCP-48.
func TestChannels(t *testing.T) {
	for settings, pushes := range map[string]bool{`{"mcpChannels":["db"],"permissions":{"allow":["mcp__db"]}}`: true, `{"permissions":{"allow":["mcp__db"]}}`: false} {
		p := newPlace(t)
		p.Write("home/.adze/settings.json", settings)
		p.Write("work/.adze/settings.json", `{"mcpChannels":["db","web"]}`)
		c := p.chat(`say Hello.
---
say Second.
---
use ExecuteExtraTool {"tool_name":"mcp__db__tool_1","params":{}}
---
say Done.`, nil)
		c.connect(p.pusher("db"), p.pusher("web"))
		c.say("First.")
		for _, server := range []string{"db", "web"} { // while no turn runs
			if _, err := c.Servers.Session.Call(t.Context(), server, "tool_1", json.RawMessage(`{}`), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Session.Idle(t.Context()); err != nil || len(c.sent()) != 1 {
			t.Fatalf("a message of a server began a turn: %d requests, %v", len(c.sent()), err)
		}
		c.say("Second.")
		c.say("Third.")

		want := []int{0, 1, 1, 2} // announcements sent so far, by request
		if !pushes {
			want = []int{0, 0, 0, 0}
		}
		var got []int
		sent := c.sent()
		for _, body := range sent {
			got = append(got, strings.Count(body, `> news of db`))
		}
		if last := sent[len(sent)-1]; !slices.Equal(got, want) || strings.Contains(last, "news of web") || strings.Contains(last, "the server's words, not the user's") != pushes {
			t.Errorf("%s: told %v, want %v: %s", settings, got, want, last)
		}
		var seen []string
		for e := range c.Session.Entries(t.Context(), 0, session.Latest) {
			if loop, ok := e.Event.(session.Loop); ok {
				if n, ok := loop.Event.(agent.Notice); ok && strings.Contains(n.Text, "news of") {
					seen = append(seen, n.Text)
				}
			}
			if e.Seq == c.Session.Last() {
				break
			}
		}
		line := "Message from the server db: news of db"
		if want := map[bool][]string{true: {line, line}}[pushes]; !slices.Equal(seen, want) {
			t.Errorf("%s: the user sees %q", settings, seen)
		}
		c.Close()
	}
}
