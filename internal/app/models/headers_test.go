package models

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/model"
	"adze/internal/msg"
)

// TestWhatIsSent checks that a provider without a key gets none, that headers may refer to
// variables, and that a Vertex address needs no version.
//
// Proves PROV-53.
func TestWhatIsSent(t *testing.T) {
	var last *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last = r
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	env := map[string]string{"TOKEN": "t-123456789"}
	getenv := func(name string) string { return env[name] }
	for _, tt := range []struct {
		name, settings, provider string
		env                      map[string]string
		path, header, value      string
	}{
		{"no key", `{"providers":{"x":{"baseUrl":"` + server.URL + `/v1","model":"m"}}}`, "x", nil, "/v1/chat/completions", "Authorization", ""},
		{"a variable", `{"providers":{"x":{"baseUrl":"` + server.URL + `/v1","model":"m","headers":{"api-key":"${TOKEN}","X-Team":"${TEAM:-all}"}}}}`, "x", nil, "/v1/chat/completions", "Api-Key", "t-123456789"},
		{"a default", `{"providers":{"x":{"baseUrl":"` + server.URL + `/v1","model":"m","headers":{"X-Team":"${TEAM:-all}"}}}}`, "x", nil, "/v1/chat/completions", "X-Team", "all"},
		{"no key at the first provider", `{}`, "anthropic", map[string]string{"ANTHROPIC_BASE_URL": server.URL}, "/v1/messages", "X-Api-Key", ""},
		{"vertex", `{}`, "vertex", map[string]string{"ANTHROPIC_VERTEX_BASE_URL": server.URL, "ANTHROPIC_VERTEX_PROJECT_ID": "p", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1"}, "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-5-5:streamRawPredict", "Authorization", ""},
		{"vertex with a version", `{}`, "vertex", map[string]string{"ANTHROPIC_VERTEX_BASE_URL": server.URL + "/v1", "ANTHROPIC_VERTEX_PROJECT_ID": "p", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1"}, "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-5-5:streamRawPredict", "Authorization", ""},
	} {
		last = nil
		s := testSettings(t, tt.settings, tt.env)
		c := Config{Settings: s, Provider: tt.provider, Models: Table(s, nil), Getenv: getenv, Say: func(string) {}}
		b, err := Open(c, "default")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		m, err := b.Resolve("default")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for range b.Router.Stream(t.Context(), &model.Request{Model: m.ID, MaxTokens: 10, Messages: []msg.Message{msg.UserText("hi")}}) {
		}
		if last == nil || last.URL.Path != tt.path || last.Header.Get(tt.header) != tt.value {
			t.Errorf("%s: sent %v; want %s with %s: %q", tt.name, last, tt.path, tt.header, tt.value)
		}
	}
	s := testSettings(t, `{"providers":{"x":{"baseUrl":"https://x.example","model":"m","headers":{"api-key":"${GONE}"}}}}`, nil)
	c := Config{Settings: s, Provider: "x", Models: Table(s, nil), Getenv: getenv, Say: func(string) {}}
	if _, err := Open(c, "default"); err == nil || !strings.Contains(err.Error(), "headers.api-key: the variable GONE is not set") {
		t.Errorf("a variable that is not set: %v", err)
	}
}
