//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestIdleSessionIsWoken checks that the end of a background task wakes an idle session.
//
// Proves SHBG-04.
func TestIdleSessionIsWoken(t *testing.T) {
	home := t.TempDir()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("use Bash {\"command\":\"cat %s; exit 0\",\"run_in_background\":true}\n---\nsay It runs.\n---\nexpect last \"<status>completed</status>\"\nexpect last \"<result>the end</result>\"\nsay It is over.", gate)
	cmd := adze(t, home, script, "--model", "sonnet", "--allowed-tools", "Bash",
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(stdin, `{"type":"user","message":{"role":"user","content":"go"}}`+"\n") // ok: the answer shows
	readUntil(t, stdout, `"result":"It runs."`)
	if err := os.WriteFile(gate, []byte("the end\n"), 0); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stdout, `"result":"It is over."`)
	stdin.Close()               // ok: this ends it
	io.Copy(io.Discard, stdout) // ok: as above
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestTaskTools runs a background task's life cycle with the program itself.
//
// Proves SHBG-05, TASK-04, X-012.
func TestTaskTools(t *testing.T) {
	cmd := adze(t, t.TempDir(), "say Nothing.", "tool", "--stdin")
	cmd.Dir = t.TempDir()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	call := func(name string, input map[string]any) (text, id string, isError bool) {
		t.Helper()
		line, err := json.Marshal(map[string]any{"id": 1, "tool": name, "input": input})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write(append(line, '\n')); err != nil || !lines.Scan() {
			t.Fatalf("%v, %v", err, lines.Err())
		}
		var r struct {
			Text       string
			IsError    bool `json:"is_error"`
			Structured struct{ BackgroundTaskID string }
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		return r.Text, r.Structured.BackgroundTaskID, r.IsError
	}
	_, id, _ := call("Bash", map[string]any{"command": "echo $$ > pid; mkfifo gate; echo one; read line < gate; echo $line; exec sleep 1000", "run_in_background": true})
	if id == "" {
		t.Fatal("no task")
	}
	call("Bash", map[string]any{"command": "until [ -p gate ]; do :; done; echo two > gate"})
	seen := "" // each part appears once, in any read
	for !strings.Contains(seen, "two") {
		text, _, isError := call("TaskOutput", map[string]any{"task_id": id, "only_new": true})
		if isError || !strings.HasPrefix(text, "Task "+id+": running\n") {
			t.Fatalf("%q", text)
		}
		seen += strings.TrimPrefix(text, "Task "+id+": running\n")
	}
	if strings.Count(seen, "one") != 1 || strings.Count(seen, "two") != 1 {
		t.Errorf("%q", seen)
	}
	if text, _, isError := call("TaskStop", map[string]any{"task_id": id}); isError || !strings.Contains(text, "was stopped") {
		t.Errorf("%q", text)
	}
	if text, _, isError := call("TaskStop", map[string]any{"task_id": id}); !isError || !strings.Contains(text, "has already ended: killed") {
		t.Errorf("%q", text)
	}
	if text, _, isError := call("TaskOutput", map[string]any{"task_id": "b00000000"}); !isError || !strings.Contains(text, id) {
		t.Errorf("%q", text)
	}
	if text, _, _ := call("Bash", map[string]any{"command": "kill -0 $(cat pid); echo code $?"}); !strings.Contains(text, "code 1") {
		t.Errorf("it still runs: %q", text)
	}
	stdin.Close() // ok: this ends it
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
