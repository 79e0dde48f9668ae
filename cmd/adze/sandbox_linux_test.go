package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLimitsOfBackgroundCommands checks that the sandbox limits a background command has hit
// are reported when its output is read.
//
// Proves PERM-64, SHSB-02.
func TestLimitsOfBackgroundCommands(t *testing.T) {
	b := newBench(t, func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "--settings", `{"sandbox":{"enabled":true}}`)
	})
	id := b.call("Bash", map[string]any{"command": "echo x > /etc/adze-test", "run_in_background": true}).Structured.BackgroundTaskID
	got := b.call("TaskOutput", map[string]any{"task_id": id, "block": true})
	if !strings.Contains(got.Text, "<sandbox-violations>\nrefused writing") || !strings.Contains(got.Text, "/etc/adze-test") {
		t.Errorf("%q", got.Text)
	}
	b.end()
}

// TestSandboxIsSwitchedWhileASessionLasts checks that toggling the sandbox during a session
// affects later commands.
//
// Proves PERM-60.
func TestSandboxIsSwitchedWhileASessionLasts(t *testing.T) {
	home, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	b := newBench(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "ADZE_HOME="+home) })
	for i, on := range []bool{false, true, false} {
		if i > 0 {
			if err := os.WriteFile(filepath.Join(home, "settings.json"), fmt.Appendf(nil, `{"sandbox":{"enabled":%v}}`, on), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		until(t, fmt.Sprintf("the sandbox does not become %v", on), func() bool {
			os.Remove(file) // ok: it may not exist
			got := b.bash("echo x > " + file)
			_, err := os.Stat(file)
			return on == got.IsError && on == (err != nil)
		})
	}
	b.end()
}

// TestSandboxIsOffered checks that the sandbox is offered at the first start, that accepting
// enables it, that commands then run in it without a prompt, and that it is not offered again.
//
// Proves PERM-60, SHSB-03.
func TestSandboxIsOffered(t *testing.T) {
	needs(t, "bwrap")
	t.Parallel()
	tm := newTerminal(t, 100, 40, `
use Bash {"command":"x=1; echo in-$ADZE_SANDBOX; touch made"}
---
expect last "in-1"
say Done.
`)
	os.RemoveAll(tm.home) // ok: the test fails if it is there
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`(?s)Run commands in a sandbox\?.*▌2 Not now`)
	tm.answer(`Run commands in a sandbox\?`, "1")
	tm.waitFor(`The sandbox is on\.`)
	tm.enter("go")
	if screen := tm.waitFor(`Done\.`); strings.Contains(screen, "1 Yes") {
		t.Errorf("it was asked about:\n%s", screen)
	}
	if _, err := os.Stat(filepath.Join(tm.dir, "made")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(tm.home, "settings.json")); err != nil || !strings.Contains(string(text), `"enabled": true`) {
		t.Errorf("the settings are %s, %v", text, err)
	}
	tm.enter("/exit")
	tm.waitForShell()
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("go")
	if screen := tm.waitFor(`Done\.`); strings.Contains(screen, "sandbox") {
		t.Errorf("it is offered again:\n%s", screen)
	}
}

// TestProtectedNamesMadeOutside checks that a protected name created by an approved command
// outside the sandbox is kept, although a command in the sandbox could have created it. That
// command is ended, since it could change the file.
//
// Proves PERM-61.
func TestProtectedNamesMadeOutside(t *testing.T) {
	b := newBench(t, func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, "--settings", `{"sandbox":{"enabled":true,"excludedCommands":["git init:*"]}}`)
	})
	id := b.call("Bash", map[string]any{"command": "x=1; touch up; sleep 1000", "run_in_background": true}).Structured.BackgroundTaskID
	until(t, "it does not start", func() bool { _, err := os.Stat(filepath.Join(b.cmd.Dir, "up")); return err == nil })
	if got := b.bash("git init -q ."); got.IsError {
		t.Error(got.Text)
	}
	got := b.call("TaskOutput", map[string]any{"task_id": id, "block": true})
	if _, err := os.Stat(filepath.Join(b.cmd.Dir, ".git", "config")); err != nil || !strings.Contains(got.Text, ".git was made outside the sandbox while the command ran in it") {
		t.Errorf("%v, %s", err, got.Text)
	}
	// A command started now can't change it, and protected names it creates itself are removed.
	if got := b.bash("d=.git; echo x > $d/config"); !strings.Contains(got.Text, "Read-only file system") {
		t.Error(got.Text)
	}
	if got := b.bash("d=.vscode; mkdir $d"); !got.IsError || !strings.Contains(got.Text, ".vscode appeared while a command ran in the sandbox") {
		t.Error(got.Text)
	}
	b.end()
}
