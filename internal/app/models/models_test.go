package models

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListed checks that a provider's models are requested once, with a short timeout, and that
// failures are not errors: the catalog is authoritative.
//
// Proves PROV-12.
func TestListed(t *testing.T) {
	const data = `{"object":"list","data":[{"id":"b"},{"id":"gpt-6-sol"},{"id":"a/b"},{"id":"b"}]}`
	for _, tt := range []struct {
		variable, key, answer string
		path, header, want    string
	}{
		{"OPENAI_BASE_URL", "OPENAI_API_KEY", data, "/v1/models", "Bearer secret-key", "gpt-6-sol openai/a/b openai/b"},
		{"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", `{"data":[{"type":"model","id":"claude-x"}],"has_more":false}`, "/v1/models", "secret-key", "claude-x"},
		{"GEMINI_BASE_URL", "GEMINI_API_KEY", `{"models":[{"name":"models/gemini-9-flash"}]}`, "/v1beta/models", "secret-key", "gemini-9-flash"},
		{"XAI_BASE_URL", "XAI_API_KEY", `{"data":[{"id":"grok-9"}]}`, "/v1/models", "Bearer secret-key", "grok-9"},
		{"OPENAI_BASE_URL", "OPENAI_API_KEY", `<html>`, "/v1/models", "Bearer secret-key", ""},
		{"OPENAI_BASE_URL", "OPENAI_API_KEY", `{"data":7}`, "/v1/models", "Bearer secret-key", ""},
		{"OPENAI_BASE_URL", "OPENAI_API_KEY", "", "/v1/models", "Bearer secret-key", ""},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
			if r.Method != http.MethodGet || r.URL.Path != tt.path || key != tt.header {
				t.Errorf("%s: %s %s with %q", tt.variable, r.Method, r.URL, key)
			}
			if tt.answer == "" {
				w.WriteHeader(http.StatusForbidden)
			}
			io.WriteString(w, tt.answer)
		}))
		s := testSettings(t, "", map[string]string{tt.variable: server.URL, tt.key: "secret-key"})
		name, ids := Listed(t.Context(), Config{Settings: s, Models: Table(s, nil), Getenv: func(string) string { return "" }})
		server.Close()
		if diff := cmp.Diff(tt.want, strings.Join(ids, " ")); diff != "" || asked != 1 || (name == "") != (tt.want == "") {
			t.Errorf("%s: asked %d times, %q %s", tt.variable, asked, name, diff)
		}
	}
	s := testSettings(t, "", nil)
	if name, ids := Listed(t.Context(), Config{Settings: s}); name != "" || ids != nil {
		t.Errorf("without a provider: %s %v", name, ids)
	}
}
