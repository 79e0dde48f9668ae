package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManyAgents checks that a session with many sequential sub-agents needs no more open files
// than with a few, that its transcript grows in proportion to their number, and that their
// usage tree is available when the session is resumed.
//
// Proves LOOP-53, SESS-42, SESS-45.
func TestManyAgents(t *testing.T) {
	size := func(agents int) int {
		home := t.TempDir()
		script := fmt.Sprintf(`when system "whole task"
forever
say The report of an agent.
usage input=100 output=10
---
repeat %d
use Agent {"description":"item {n}","prompt":"Work on item {n}.","subagent_type":"general-purpose"}
usage input=10 output=1
---
say All are done.
usage input=10 output=1`, agents)
		program := adze(t, home, script, "-p", "go", "--model", "sonnet", "--trust")
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -n 48 && exec "$@"`, "sh"}, program.Args...)...)
		cmd.Args[4], cmd.Dir, cmd.Env = program.Path, program.Dir, program.Env
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "All are done.\n" {
			t.Fatalf("%d agents: %v: %s", agents, err, out)
		}
		reports, err := filepath.Glob(filepath.Join(home, "projects", "*", "*", "tasks", "a*.output"))
		if err != nil || len(reports) != agents {
			t.Errorf("%d of %d agents have an output, %v", len(reports), agents, err)
		}
		log := transcript(t, home)
		again := adze(t, home, "forever\nsay Nothing.", "-c", "-p", "/cost", "--model", "sonnet")
		again.Dir = program.Dir
		shown, err := again.Output()
		rows := strings.Count(string(shown), "item ")
		all := fmt.Sprintf("all %d %d", 2*agents+1, 110*agents+10)
		if text := strings.Join(strings.Fields(strings.ReplaceAll(string(shown), ",", "")), " "); err != nil || rows != agents || !strings.Contains(text, all) {
			t.Errorf("%d of %d agents have a row, or there is no %q: %v\n%s", rows, agents, all, err, shown)
		}
		return len(log)
	}
	few, many := size(30), size(120)
	t.Logf("%d bytes with 30 agents, %d with 120", few, many)
	if many > 5*few {
		t.Errorf("%d bytes with 120 agents, %d with 30", many, few)
	}
}
