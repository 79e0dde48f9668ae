//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The first message keeps its first letter while the sandbox is offered, and decides nothing about it.
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

// A malformed key is asked for again; nothing of it reaches the shell. A bare slash runs nothing, and exit leaves.
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
