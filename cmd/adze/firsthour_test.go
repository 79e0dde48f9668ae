//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOfferTakesNoLetter checks that the first message keeps its first letter while the sandbox
// is offered, and does not answer the offer.
//
// Proves PERM-60.
func TestOfferTakesNoLetter(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 100, 30, "forever\nsay I see.\n")
	os.RemoveAll(tm.home) // ok: the test fails if it is there
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`(?s)Run commands in a sandbox\?.*Enter select`)
	tm.tmux("send-keys", "-l", "y")
	tm.waitFor(`^❯ y$`)
	tm.tmux("send-keys", "-l", "our test")
	tm.waitFor(`^❯ your test$`)
	tm.key("Enter")
	tm.waitFor(`I see\.`)
	if text, err := os.ReadFile(filepath.Join(tm.home, "settings.json")); err == nil && strings.Contains(string(text), "sandbox") {
		t.Errorf("the settings are %s", text)
	}
	if _, err := os.Stat(filepath.Join(tm.home, "sandbox-declined")); err == nil {
		t.Error("it is declined")
	}
}

// TestFirstHour checks that adze prompts again after a malformed key without leaking it to the
// shell, that a bare slash runs nothing, and that exit quits.
func TestFirstHour(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 100, 30, `
when last "make"
use Write {"file_path":"made.txt","content":"made\n"}
---
forever
say I see.
`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	tm.enter("clear; DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere adze auth login anthropic --no-check")
	tm.waitFor(`Key: $`)
	tm.enter("wrong key")
	tm.waitFor(`it contains a space\. Paste it again[\s\S]*Key: $`)
	tm.enter("sk-right")
	tm.waitFor(`Saved the key for anthropic`)
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("make it")
	tm.answer(`Create made\.txt \(1 line\)\?`, "2")
	tm.waitFor(`I see\.`)
	tm.tmux("send-keys", "-l", "/")
	tm.waitFor(`^ +/help `)
	tm.key("Enter")
	tm.tmux("send-keys", "-l", "version")
	tm.key("Enter")
	tm.waitFor(`^adze \d`)
	tm.enter("exit")
	tm.waitFor(`To continue this session`)
	tm.waitForShell()
	tm.enter("clear; adze --model replay:model.txt --continue")
	if screen := tm.waitFor(`permission mode acceptEdits[\s\S]*^❯ $`); !strings.Contains(screen, "make it") {
		t.Errorf("the last turn is not shown:\n%s", screen)
	}
}

// TestSecondHour checks that a paste keeps its placeholder in the transcript, that a closed
// picker leaves no trace, and that rewound messages and stashed text return to the input.
func TestSecondHour(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 100, 40, `
forever
say I see.
`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	tm.enter("clear; adze --model replay:model.txt --allowed-tools Bash")
	tm.waitFor(`^❯ $`)

	tm.enter("/config")
	tm.waitFor(`Esc`)
	tm.key("Escape")
	tm.waitFor(`^❯ *$`)
	if screen := tm.screen(); strings.Contains(screen, "❯ /config") {
		t.Errorf("the closed picker left its command:\n%s", screen)
	}

	tm.enter("!vi x")
	tm.waitFor(`vi needs a terminal of its own; open it in another window`)
	tm.enter("!echo begun; sleep 100")
	tm.waitFor(`^  begun$`)
	tm.key("C-c")
	tm.waitFor(`^  Stopped after \d+s\.$`)

	var paste strings.Builder
	for range 200 {
		paste.WriteString("a pasted line\n")
	}
	if err := os.WriteFile(filepath.Join(tm.dir, "paste"), []byte(paste.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.tmux("load-buffer", filepath.Join(tm.dir, "paste"))
	tm.tmux("paste-buffer", "-p")
	tm.waitFor(`^❯ \[Pasted text #1 \+200 lines\]`)
	tm.enter(" what is this?")
	if screen := tm.waitFor(`(?s)\+200 lines\] what is this\?.*I see\.`); strings.Contains(screen, "a pasted line") {
		t.Errorf("the paste is in the transcript:\n%s", screen)
	}

	tm.tmux("send-keys", "-l", "for later")
	tm.key("C-s")
	tm.waitFor(`stashed: for later`)
	tm.enter("first this")
	tm.waitFor(`(?s)❯ first this.*I see\..*^❯ for later *$`)
	tm.key("C-u")
	tm.enter("/rewind 1 conversation")
	tm.waitFor(`(?s)/rewind undo.*^❯ first this *$`)
}

// TestListsAreShownOnce checks that the task list is shown once per change, and the plan once.
func TestListsAreShownOnce(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 100, 40, `
when last "tasks"
use TaskCreate {"subject":"Split searchKeys","description":"x"}
use TaskCreate {"subject":"Test it","description":"x"}
---
when last "was added"
use TaskUpdate {"taskId":"1","status":"in_progress"}
---
when last "is in_progress"
use TaskUpdate {"taskId":"1","status":"completed"}
---
when last "is completed"
say Half of it is done.
---
when last "make a plan"
take file "(/[^ ]+/plans/[a-z-]+[.]md)"
use Write {"file_path":"{file}","content":"# The way\n\nOnly one way.\n"}
---
when last "/plans/"
use ExitPlanMode {}
---
forever
say I see.
`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("tasks")
	screen := tm.waitFor(`(?s)Half of it is done\..*☐ 1/2  `)
	if n := strings.Count(screen, "Split searchKeys"); n != 1 {
		t.Errorf("the task is shown %d times:\n%s", n, screen)
	}
	if strings.Contains(screen, "in progress") {
		t.Errorf("a call is shown:\n%s", screen)
	}
	tm.enter("/plan")
	tm.waitFor(`^  ● plan ∙`)
	tm.enter("make a plan")
	screen = tm.waitFor(`Go ahead with this plan\?`)
	if n := strings.Count(screen, "Only one way."); n != 1 || !strings.Contains(screen, "Wrote the plan") {
		t.Errorf("the plan is shown %d times:\n%s", n, screen)
	}

	// The resumed session has the mode that the approval set.
	tm.answer(`Go ahead with this plan\?`, "1")
	tm.waitFor(`edits no longer need confirmation[\s\S]*I see\.`)
	tm.enter("exit")
	tm.waitFor(`To continue this session`)
	tm.waitForShell()
	tm.enter("clear; adze --model replay:model.txt --continue")
	tm.waitFor(`permission mode acceptEdits[\s\S]*^❯ $`)
}
