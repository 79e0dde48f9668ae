//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A host drives adze line by line.
type host struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// drive starts the program under a host, with settings and a script.
func drive(t *testing.T, settings, script string, args ...string) *host {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := adze(t, home, script, append([]string{"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--model", "sonnet"}, args...)...)
	cmd.Env = append(cmd.Env, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	return &host{t, cmd, in, lines}
}

// leave closes the input and waits for the program to end.
func (h *host) leave() {
	h.in.Close() // ok: the program notices
	for h.out.Scan() {
	}
	if err := h.cmd.Wait(); err != nil {
		h.t.Error(err)
	}
}

func (h *host) send(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) say(text string) {
	h.t.Helper()
	h.send(`{"type":"user","message":{"role":"user","content":"` + text + `"}}`)
}

// await returns the next line that contains a text.
func (h *host) await(text string) string {
	h.t.Helper()
	for h.out.Scan() {
		if strings.Contains(h.out.Text(), text) {
			return h.out.Text()
		}
	}
	h.t.Fatalf("the stream ended without %s: %v", text, h.out.Err())
	return ""
}

// Proves HOOK-17.
func TestHookWakesAnIdleSession(t *testing.T) {
	for code, script := range map[string]string{
		"2": "say First.\n---\nexpect last \"the build broke\"\nsay I see.",
		"0": "say First.\n---\nexpect last \"go on\"\nsay Second.",
	} {
		t.Run(code, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			command, err := json.Marshal("while [ ! -e " + gate + " ]; do sleep 0.01; done; echo the build broke >&2; touch " + gate + "2; exit " + code)
			if err != nil {
				t.Fatal(err)
			}
			settings := `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","once":true,"asyncRewake":true,"command":` + string(command) + `}]}]}}`
			h := drive(t, settings, script)
			defer h.leave()
			h.say("hello")
			h.await(`"result":"First."`)
			h.await(`"state":"idle"`)
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if code == "0" {
				waitFor(t, gate+"2")
				h.say("go on") // nothing but this wakes the session
				h.await(`"result":"Second."`)
				return
			}
			h.await(`"result":"I see."`)
		})
	}
}

// waitFor waits until a file exists.
func waitFor(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s was not written", path)
		}
	}
}

// Proves HOOK-05, HOOK-30.
func TestHooksOfTheHost(t *testing.T) {
	script := "use id=toolu_a Bash {\"command\":\"touch a\"}\n---\nexpect error-result toolu_a \"not on my watch\"\nsay Done."
	h := drive(t, `{}`, script, "--allowed-tools", "Bash")
	defer h.leave()
	h.send(`{"type":"control_request","request_id":"1","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"]}]}}}`)
	h.await(`"request_id":"1"`)
	h.say("go")
	var asked struct {
		ID      string `json:"request_id"`
		Request struct {
			Callback string          `json:"callback_id"`
			UseID    string          `json:"tool_use_id"`
			Input    json.RawMessage `json:"input"`
		} `json:"request"`
	}
	if err := json.Unmarshal([]byte(h.await(`"subtype":"hook_callback"`)), &asked); err != nil {
		t.Fatal(err)
	}
	if asked.Request.Callback != "hook_0" || asked.Request.UseID != "toolu_a" || !strings.Contains(string(asked.Request.Input), `"tool_input":{"command":"touch a"}`) {
		t.Errorf("asked %+v", asked)
	}
	h.send(`{"type":"control_response","response":{"subtype":"success","request_id":"` + asked.ID + `","response":{"decision":"block","reason":"not on my watch"}}}`)
	h.await(`"result":"Done."`)
}
