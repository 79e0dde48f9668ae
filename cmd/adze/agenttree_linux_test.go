package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorktreesOfAKilledProgram kills a program while a background and a foreground agent work
// in worktrees, and checks that the continued session reports both worktrees to the model and
// to the user.
//
// Proves AGENT-30, AGENT-50.
func TestWorktreesOfAKilledProgram(t *testing.T) {
	script := `when text "Wait for it."
when system "whole task"
forever
hang
---
use Agent {"description":"behind","prompt":"Wait for it.","subagent_type":"general-purpose","run_in_background":true,"isolation":"worktree"}
---
use Agent {"description":"before","prompt":"Wait for it.","subagent_type":"general-purpose","isolation":"worktree"}`
	tm := newTerminal(t, 200, 40, script)
	repository(t, tm.dir)
	tm.enter("adze --model replay:model.txt --trust --permission-mode acceptEdits")
	tm.waitFor(`^(>|❯)`)
	tm.enter("go")
	trees := func() []string {
		all, err := filepath.Glob(filepath.Join(tm.dir, ".adze", "worktrees", "agent-*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	until(t, "no worktrees", func() bool { return len(trees()) == 2 && strings.Contains(sideLogs(t, tm.home), `"agentId"`) })
	kept := func() int {
		all, _ := filepath.Glob(filepath.Join(tm.home, "projects", "*", "*", "subagents", "*.jsonl")) // ok: the pattern is good
		return len(all)
	}
	until(t, "the agents do not work", func() bool { return kept() == 2 })
	tm.kill()
	tm.tmux("clear-history")
	tm.enter("clear")
	if err := os.WriteFile(filepath.Join(tm.dir, "model.txt"), []byte("forever\nsay Fine."), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.enter("adze --continue --model replay:model.txt --record-requests sent")
	tm.waitFor(`These were at work when it ended`)
	screen := strings.Join(strings.Fields(tm.waitFor(`resume\s+them`)), "")
	tm.enter("what now?")
	tm.waitFor(`Fine\.`)
	told := recorded(t, filepath.Join(tm.dir, "sent"))
	for _, tree := range trees() {
		if !strings.Contains(told, `<worktree>`+tree+`</worktree>`) && !strings.Contains(told, `\u003cworktree\u003e`+tree) {
			t.Errorf("no notice to the model about %s:\n%s", tree, told[max(0, len(told)-3000):])
		}
		if !strings.Contains(screen, tree) {
			t.Errorf("no notice to the user about %s:\n%s", tree, screen)
		}
	}
}
