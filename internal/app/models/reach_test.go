package models

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adze/internal/settings"
)

// TestReach checks that any answer counts, that no credentials are sent, and that failures are
// reported with a remedy.
//
// Proves CMD-06.
func TestReach(t *testing.T) {
	var asked []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r)
		http.NotFound(w, r)
	}))
	reach := func(vars map[string]string) (string, error) {
		vars["HOME"] = t.TempDir()
		p, _ := settings.Open(settings.Source{Dir: t.TempDir(), Getenv: func(name string) string { return vars[name] }})
		return Reach(t.Context(), Config{Settings: p.Settings(), Version: "1", Say: func(string) {}})
	}
	vars := map[string]string{"ANTHROPIC_API_KEY": "secret", "ANTHROPIC_BASE_URL": server.URL + "/some/path"}
	if text, err := reach(vars); err != nil || !strings.HasSuffix(text, " answers (HTTP 404)") {
		t.Errorf("%q, %v", text, err)
	}
	for _, r := range asked {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, ""), "secret") {
				t.Errorf("%s was sent", name)
			}
		}
		if r.URL.Path != "/" || r.Method != http.MethodHead {
			t.Errorf("%s %s was sent", r.Method, r.URL)
		}
	}
	if len(asked) != 1 {
		t.Errorf("%d requests", len(asked))
	}
	server.Close()
	if _, err := reach(vars); err == nil || !strings.Contains(err.Error(), "nothing listens at ") {
		t.Error(err)
	}
	if _, err := reach(map[string]string{}); err == nil || err.Error() != "no provider to try" {
		t.Error(err)
	}
}
