package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/tool"
)

// TestAuthenticate checks that the tool returns the URL, needs permission like every server
// tool, and describes an alternative if begin is nil.
//
// Proves MCP-27.
func TestAuthenticate(t *testing.T) {
	server := &roster.Entry{Name: "vault"}
	begin := func(_ context.Context, name string) (string, error) {
		if name != "vault" {
			return "", errors.New("another server")
		}
		return "https://auth.example/authorize?state=x", nil
	}
	broken := func(context.Context, string) (string, error) { return "", errors.New("it does not offer PKCE") }
	for _, tt := range []struct {
		name  string
		begin SignIn
		text  string
		fails bool
	}{
		{"begins", begin, "https://auth.example/authorize?state=x", false},
		{"fails", broken, "does not offer PKCE", true},
		{"no time", nil, "adze mcp login vault", true},
	} {
		made := NewAuthenticate(server, tt.begin)
		if spec := made.Spec(); spec.Name != "mcp__vault__authenticate" || !json.Valid(spec.Schema) || len(spec.Description) > 300 {
			t.Errorf("%+v", spec)
		}
		if traits := made.Traits(); traits.Origin != "mcp:vault" || traits.Core {
			t.Errorf("%+v", traits)
		}
		call, err := made.Bind(json.RawMessage(`{"anything":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, reads := tool.As[interface{ ReadOnly() bool }](call); reads {
			t.Error("it claims to be read-only, so it might skip the prompt")
		}
		got, err := call.Run(t.Context(), func(tool.Progress) {})
		if (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.name, err)
		}
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			text = got.Parts[0].(*msg.Text).Text
		}
		if !strings.Contains(text, tt.text) {
			t.Errorf("%s: %s", tt.name, text)
		}
	}
}
