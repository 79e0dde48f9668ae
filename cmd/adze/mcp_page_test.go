//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/mcp/mcptest"
	"adze/internal/mcp/roster"
)

// TestMCPPage checks that the code blocks in docs/mcp.md work as written. The package that npx
// would fetch is replaced with a test server, as is the remote server, which is reached through
// a proxy.
//
// Proves MCP-05.
func TestMCPPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	var scripts, files []string
	for i, block := range strings.Split(string(page), "```") {
		kind, text, _ := strings.Cut(block, "\n")
		switch {
		case i%2 == 0:
		case kind == "sh":
			scripts = append(scripts, text)
		case kind == "json":
			files = append(files, text)
		}
	}
	if len(scripts) != 3 || len(files) != 3 {
		t.Fatalf("the page has %d scripts and %d files", len(scripts), len(files))
	}

	home, bin := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(bin, "npx"):           "#!/bin/sh\nexec mcptest\n",
		filepath.Join(home, "model.replay"): "say Hello from the page.\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	net := newPretence(t, []string{"tracker.example.com"})
	handler := mcptest.NewHandler()
	hosts := net.play(handler)
	for i, want := range []string{
		"files local connected, 16 tools npx -y @modelcontextprotocol/server-filesystem ; echo Returns a text ; hello ; Hello from the page.",
		"state connected, 16 tools ; header Authorization: Bearer ${TRACKER_TOKEN}",
		`"DB_URL": "${DB_URL:-postgres://localhost/app}" ; removed db from`,
	} {
		// The test server's tools differ from those on the page.
		script := strings.NewReplacer("TOKEN=...", "TOKEN=t0ken", `list_directory "{\"path\": \"$HOME/documents\"}"`, `echo '{"text":"hello"}'`).Replace(scripts[i])
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
		cmd.Dir = t.TempDir()
		cmd.Env = []string{
			"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "ADZE_HOME=" + filepath.Join(home, ".adze"), "ADZE_NO_FSYNC=1",
			"ADZE_MODEL=replay:" + filepath.Join(home, "model.replay"), "ADZE_EXTRA_CA_CERTS=" + net.certificate, "HTTPS_PROXY=" + net.proxy,
		}
		out, err := cmd.CombinedOutput()
		plain := strings.Join(strings.Fields(string(out)), " ")
		for want := range strings.SplitSeq(want, " ; ") {
			if err != nil || !strings.Contains(plain, want) {
				t.Errorf("%v, lacks %q\n%s\n%s", err, want, scripts[i], out)
			}
		}
	}
	if got := strings.Join(hosts(), " "); got != "tracker.example.com" {
		t.Errorf("contacted %q", got)
	}
	for _, r := range handler.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer t0ken" {
			t.Errorf("%s: Authorization %q", r.Method, got)
		}
	}

	entries, err := roster.ParseFile(roster.Source{Scope: roster.User, Getenv: func(string) string { return "x" }}, []byte(files[0]))
	if err != nil || len(entries) != 3 {
		t.Fatal(len(entries), err)
	}
	for _, e := range entries {
		if e.Problem != nil || len(e.Warnings) > 0 {
			t.Errorf("%s: %v, %q", e.Name, e.Problem, e.Warnings)
		}
	}
	var other struct { // client configuration
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(files[2]), &other); err != nil || other.Servers["adze"].Command != "adze" || strings.Join(other.Servers["adze"].Args, " ") != "mcp serve" {
		t.Errorf("notifications to other clients: %+v, %v", other, err)
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal([]byte(files[1]), &lists); err != nil {
		t.Fatal(err)
	}
	var policy roster.Policy
	if policy.Allow(lists["allowedMcpServers"]) != nil || policy.Deny(lists["deniedMcpServers"]) != nil {
		t.Error("the lists of an administrator are not accepted")
	}
}
