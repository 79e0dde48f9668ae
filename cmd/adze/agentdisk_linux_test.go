package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiskIsFullUnderAgents checks that agents finish their work on a full disk, that the user
// sees which data is lost, that saved data is readable, and that the session can be continued
// once there is room again.
//
// Proves AGENT-39, SESS-16.
func TestDiskIsFullUnderAgents(t *testing.T) {
	bwrap := needs(t, "bwrap")
	small, kept := t.TempDir(), t.TempDir()
	cmd := adze(t, small, `when no-tool Agent
when messages 1
forever
use Bash {"command":"head -c 60000 /dev/zero | tr '\\0' x"}
---
when no-tool Agent
when messages 3
forever
use Bash {"command":"head -c 60001 /dev/zero | tr '\\0' y"}
---
when no-tool Agent
forever
say It is done.
---
use Agent {"description":"one","prompt":"Print much","subagent_type":"general-purpose"}
use Agent {"description":"two","prompt":"Print much","subagent_type":"general-purpose"}
---
expect text "It is done."
say Both are back.
---
expect last "again"
say I go on.
`)
	bin, out := cmd.Path, filepath.Join(kept, "out")
	cmd.Path = bwrap
	cmd.Args = []string{bwrap, "--dev-bind", "/", "/", "--size", "400000", "--tmpfs", small, "/bin/sh", "-c", `
		head -c 200000 /dev/zero > "$1/filler"
		"$2" -p go --dangerously-skip-permissions --model sonnet > "$3" 2> "$3.err"
		cp -r "$1/projects" "$4"
		rm "$1/filler"
		"$2" -p again --continue --dangerously-skip-permissions --model sonnet >> "$3" 2>> "$3.err"
	`, "sh", small, bin, out, kept}
	cmd.Env = append(cmd.Env, "IS_SANDBOX=1")
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	said, _ := os.ReadFile(out) // ok: empty if missing
	errs, _ := os.ReadFile(out + ".err")
	if string(said) != "Both are back.\nI go on.\n" || !strings.Contains(string(errs), "no space left on device") {
		t.Errorf("said %q\n%s", said, errs)
	}
	logs, err := filepath.Glob(filepath.Join(kept, "projects", "*", "*.jsonl"))
	side, err2 := filepath.Glob(filepath.Join(kept, "projects", "*", "*", "subagents", "*.jsonl"))
	if err != nil || err2 != nil || len(logs) != 1 || len(side) == 0 {
		t.Fatalf("%q %q %v %v", logs, side, err, err2)
	}
	for _, log := range append(logs, side...) {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if bytes.HasSuffix(line, []byte("\n")) && !json.Valid(line) {
				t.Errorf("%s: %.200q", log, line)
			}
		}
	}
}
