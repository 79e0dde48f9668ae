package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNothingOutlivesAKilledProgram checks that no process started by a command outlives a
// killed program: no grandchild, and none that left the group, became a daemon or cleared its
// environment. The same holds for a background task, which is reported to the model once when
// the session is resumed.
//
// Proves SH-04, SHBG-06.
func TestNothingOutlivesAKilledProgram(t *testing.T) {
	for _, tt := range []struct{ background, sandbox bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			word := rand.Text() // occurs in the arguments of every started process
			leave := strings.ReplaceAll(`exec -a WORD-4 sleep 1000`, "WORD", word)
			command := strings.ReplaceAll(`
				setsid bash -c "exec -a WORD-1 sleep 1000" &
				(bash -c "exec -a WORD-2 sleep 1000" &)
				setsid setsid bash -c "setsid env -i bash -c '`+leave+`' >/dev/null 2>&1 &"
				exec -a WORD-3 sleep 1000`, "WORD", word)
			input, err := json.Marshal(map[string]any{"command": command, "run_in_background": tt.background})
			if err != nil {
				t.Fatal(err)
			}
			const id = "11111111-2222-4333-8444-555555555555"
			args := []string{"--model", "sonnet", "--allowed-tools", "Bash", "-p", "go", "--settings", fmt.Sprintf(`{"sandbox":{"enabled":%v}}`, tt.sandbox)}
			script := fmt.Sprintf("use Bash %s\n---\nsay It runs.\nhang", input)
			cmd := adze(t, home, script, append(args, "--session-id", id)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "the command does not run", func() bool { return len(called(t, word)) == 4 })
			if tt.background { // the model has been notified
				until(t, "the answer does not arrive", func() bool { return strings.Contains(soFar(t, home), "backgroundTaskId") })
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() // ok: it was killed
			until(t, "something outlives the program", func() bool { return len(called(t, word)) == 0 })
			if !tt.background {
				return
			}
			for _, script := range []string{`expect last "has stopped"`, `expect no-last "does not run any more"`} {
				again := adze(t, home, script+"\nsay Fine.", append(args, "--resume", id)...)
				again.Dir = cmd.Dir
				if out, err := again.Output(); err != nil || !strings.Contains(string(out), "Fine.") {
					t.Errorf("%s: %v: %s", script, err, out)
				}
			}
		})
	}
}

// called returns the live processes that have a word in their arguments.
func called(t *testing.T, word string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.HasPrefix(text, []byte(word+"-")) {
			found = append(found, string(bytes.ReplaceAll(text, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// soFar returns the content of the transcripts below home, if any.
func soFar(t *testing.T, home string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return string(all)
}

// needs returns the path of a program, and fails the test immediately if it is missing.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v; scripts/test installs it", err)
	}
	return path
}

// until fails the test if ok does not become true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(what)
		}
	}
}
