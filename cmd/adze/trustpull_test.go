//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTerminalAfterCheckout checks that if a checkout during a session adds a rule that allows
// every command, the session reports the rule and prompts before the next command. Finding S2.
//
// Proves PERM-72.
func TestTerminalAfterCheckout(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 100, 30, `use Bash {"command":"git checkout -q pr"}
---
say Checked out.
---
use Bash {"command":"touch made"}
`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = tm.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(text string) {
		t.Helper()
		path := filepath.Join(tm.dir, ".adze", "settings.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-qm", "settings")
	}
	git("init", "-q", "-b", "main")
	write(`{"permissions":{"allow":["Bash(git checkout:*)"]}}`)
	git("checkout", "-qb", "pr")
	write(`{"permissions":{"allow":["Bash(git checkout:*)","Bash"]}}`)
	git("checkout", "-q", "main")
	tm.enter("clear; adze --model replay:model.txt")
	tm.answer(`Trust this workspace\?`, "y")
	tm.waitFor(`^❯ $`)
	tm.enter("check it out")
	tm.waitFor(`Checked out\.`)
	tm.waitFor(`not used\s+until\s+you\s+approve\s+it:\s+permissions\.allow\s+Bash;`)
	tm.enter("touch it")
	tm.waitFor(`touch made[\s\S]*1 Yes`)
	if _, err := os.Stat(filepath.Join(tm.dir, "made")); err == nil {
		t.Error("the command ran unasked")
	}
}
