package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalKilledAnswer checks that a partial answer from a killed program is in the
// continued conversation as far as it was saved, marked as interrupted for the user and the
// model.
//
// Proves SESS-18.
func TestTerminalKilledAnswer(t *testing.T) {
	var lines strings.Builder
	for i := range 66 {
		fmt.Fprintf(&lines, "line %d of it\\n", i+1)
	}
	tm := newTerminal(t, 80, 40, "text \""+lines.String()+"\"\nhang")
	tm.enter("adze --model replay:model.txt")
	tm.waitFor(`^(>|❯)`)
	tm.enter("count to 66")
	tm.waitFor(`line 66 of it`)
	partial := func() string {
		names, err := filepath.Glob(filepath.Join(tm.home, "projects", "*", "*.jsonl.partial"))
		if err != nil || len(names) != 1 {
			return ""
		}
		text, _ := os.ReadFile(names[0]) // ok: it may have just been replaced
		return string(text)
	}
	until(t, "the answer is not saved", func() bool { return strings.Contains(partial(), "line 66 of it") })
	if log := soFar(t, tm.home); strings.Contains(log, "line 1 of it") {
		t.Fatalf("the answer is stored already: %s", log)
	}
	tm.kill()
	tm.tmux("clear-history")
	tm.enter("clear")
	if err := os.WriteFile(filepath.Join(tm.dir, "model.txt"), []byte("expect text \"line 66 of it\"\nexpect last \"go on\"\nsay Went on."), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.enter("adze --continue --model replay:model.txt")
	tm.waitFor(`adze was killed during an answer`)
	tm.waitFor(`line 66 of it`)
	if log := soFar(t, tm.home); strings.Count(log, "line 66 of it") != 1 || !strings.Contains(log, `"aborted":true`) {
		t.Errorf("the transcript: %s", log)
	}
	if text := partial(); text != "" {
		t.Errorf("the file is left: %s", text)
	}
	tm.enter("go on")
	tm.waitFor(`Went on\.`)
}

// TestKilledAnswerWithoutTerminal is like TestTerminalKilledAnswer without a terminal, with
// every signal that leaves no time: nothing is written twice.
//
// Proves SESS-18.
func TestKilledAnswerWithoutTerminal(t *testing.T) {
	home := t.TempDir()
	cmd := adze(t, home, "say Half of it\nsay+  and more\nhang", "-p", "go", "--model", "sonnet",
		"--output-format", "stream-json", "--verbose", "--include-partial-messages")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stdout, "and more")
	names := func(pattern string) []string {
		all, err := filepath.Glob(filepath.Join(home, "projects", "*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	until(t, "the answer is not saved", func() bool { return len(names("*.jsonl.partial")) == 1 })
	partial := names("*.jsonl.partial")[0]
	if info, err := os.Stat(partial); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	cmd.Process.Kill()
	cmd.Wait() // ok: it was killed
	saved, err := os.ReadFile(partial)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time simulates a kill before the file was removed
		again := adze(t, home, "forever\nexpect text \"Half of it and more\"\nsay Went on.", "-c", "-p", "go on", "--model", "sonnet")
		again.Dir = cmd.Dir
		if out, err := again.Output(); err != nil || !strings.Contains(string(out), "Went on.") {
			t.Errorf("%v: %s", err, out)
		}
		if log := transcript(t, home); strings.Count(log, "Half of it") != 1 {
			t.Errorf("the transcript: %s", log)
		}
		if _, err := os.Stat(partial); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is left: %v", err)
		}
		if err := os.WriteFile(partial, saved, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
