package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/model/replay"
)

// fleet returns the configuration of n servers started with args. Every third one runs behind a
// shell, like package manager wrappers.
func fleet(t *testing.T, n int, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("mcptest")
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	servers := map[string]entry{}
	for i := range n {
		args := append(slices.Clone(args), fmt.Sprint("no=", i)) // identical servers would be merged
		e := entry{program, args}
		if i%3 == 2 {
			e = entry{"/bin/sh", append([]string{"-c", `"$@"; exit $?`, "sh", program}, args...)}
		}
		servers[fmt.Sprintf("server%02d", i)] = e
	}
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mentioning returns the live processes with a word in their arguments.
func mentioning(t *testing.T, word string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte(word)) && !bytes.Contains(text, []byte("--mcp-config")) {
			found = append(found, string(bytes.ReplaceAll(text, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// TestNoServerOutlivesTheProgram checks that no server outlives the program, whether it is
// killed or exits: not even servers that ignore signals and the end of their input, or run
// behind a shell.
//
// Proves MCP-16.
func TestNoServerOutlivesTheProgram(t *testing.T) {
	for _, kill := range []bool{true, false} {
		t.Run(fmt.Sprintf("kill=%v", kill), func(t *testing.T) {
			t.Parallel()
			word := rand.Text()
			script := "say Fine."
			if kill {
				script += "\nhang"
			}
			cmd := adze(t, t.TempDir(), script, "--model", "sonnet", "-p", "go", "--mcp-config", fleet(t, 10, "stubborn", "name="+word))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if kill {
				until(t, "the servers do not run", func() bool { return len(mentioning(t, word)) == 13 }) // including the shells
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			if !kill {
				readUntil(t, out, "Fine.")
			}
			answered := time.Now()
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() // ok: it may have been killed
			t.Logf("ended %v after its answer", time.Since(answered).Round(time.Millisecond))
			until(t, "a server outlives the program", func() bool { return len(mentioning(t, word)) == 0 })
		})
	}
}

// requests returns a model that plays a script, and a function that returns its requests.
func requests(t *testing.T, script string) (url string, bodies func() [][]byte) {
	t.Helper()
	s, err := replay.Parse("test.replay", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all [][]byte
	player := replay.NewPlayer(s).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && strings.HasSuffix(r.URL.Path, "/messages") {
			mu.Lock()
			all = append(all, body)
			mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		player.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() [][]byte {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestRequestDoesNotGrowWithServers checks that with 40 servers of 50 tools each the first
// request is at most a kilobyte larger than without servers, lists the same tools and waits for
// the servers, and that a server tool can be called.
//
// Proves MCP-15, MCP-35, DEF-03, LOOP-09, REG-03.
func TestRequestDoesNotGrowWithServers(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	run := func(script string, args ...string) (first []byte, printed string) {
		url, bodies := requests(t, script)
		cmd := adze(t, home, "say unused", append([]string{"--model", "sonnet", "-p", "go"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL="+url)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return bodies()[0], string(out)
	}
	without, _ := run("say Fine.")
	call := `use ExecuteExtraTool {"tool_name":"mcp__server07__tool_50","params":{"text":"x"}}`
	with, printed := run(call+"\n---\nexpect last \"tool_50\"\nsay Called.", "--mcp-config", fleet(t, 40, "only=50"), "--allowed-tools", "mcp__server07")
	if !strings.Contains(printed, "Called.") {
		t.Errorf("printed %q", printed)
	}
	tools := func(body []byte) string {
		var r struct{ Tools json.RawMessage }
		if err := json.Unmarshal(body, &r); err != nil {
			t.Fatal(err)
		}
		return string(r.Tools)
	}
	if tools(with) != tools(without) {
		t.Error("the servers change the list of tools")
	}
	t.Logf("%d bytes with 2,000 tools, %d without", len(with), len(without))
	if grown := len(with) - len(without); grown > 1000 {
		t.Errorf("the request grows by %d bytes", grown)
	}
}

// TestSilentServersHoldUpNoOne checks that a terminal session sends its first request while 40
// servers do not answer, and that a run without a terminal gives up after the connection
// timeout with a message.
//
// Proves MCP-13, MCP-15.
func TestSilentServersHoldUpNoOne(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "servers.json")
	servers := strings.Replace(fleet(t, 40, "silent"), `"mcpServers":{`, `"mcpServers":{"a":{"command":"/bin/sh","args":["-c","sleep 1; exit 3"]},`, 1)
	if err := os.WriteFile(config, []byte(servers), 0o600); err != nil {
		t.Fatal(err)
	}
	tm := newTerminal(t, 80, 24, "say Hello yourself.")
	tm.enter("adze --model replay:model.txt --mcp-config " + config)
	tm.waitFor(`^❯ `)
	tm.enter("hello")
	tm.waitFor(`Hello yourself`)
	tm.tmux("send-keys", "-l", "half a line")
	tm.waitFor(`^The server a failed: the program /bin/sh ended with exit code 3\.\n\n❯ half a line`) // above the typed text
	tm.key("C-u")
	tm.tmux("clear-history")
	tm.enter("/exit")
	tm.waitFor(`^\$ $`)

	cmd := adze(t, t.TempDir(), "say Fine.", "--model", "sonnet", "-p", "go", "--mcp-config", fleet(t, 2, "silent"))
	cmd.Env = append(cmd.Env, "MCP_TIMEOUT=300")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "Fine.") || strings.Count(said.String(), "did not answer within 300ms") != 2 {
		t.Errorf("%v: %s%s", err, out, said.String())
	}
}
