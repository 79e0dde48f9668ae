//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalTakeBack checks that a message interrupted before the model answers returns to
// the composer and leaves the conversation: if it is sent again, the model sees it once, also
// after a resume. The transcript keeps everything.
//
// Proves X-120.
func TestTerminalTakeBack(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, "delay 1h\nsay never\n---\nexpect no-text \"rund it\"\nsay I round it up.\n---\nsay Once.\n")
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("rund it")
	tm.waitFor(`Waiting for the model`)
	tm.key("Escape")
	tm.waitFor(`^❯ rund it\n\nCancelled\. Your message is back in the input\.\n(.*\n)*❯ rund it$`)
	tm.key("C-u")
	tm.tmux("send-keys", "-l", "round it up")
	tm.waitFor(`^❯ round it up$`)
	tm.key("Enter")
	tm.waitFor(`I round it up\.`)
	tm.enter("/exit")
	tm.waitFor(`To continue this session`)
	tm.waitForShell()
	files, err := filepath.Glob(filepath.Join(tm.home, "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(data), `"rund it"`) || !strings.Contains(string(data), "round it up") {
		t.Errorf("the transcript holds %s, %v", data, err)
	}
	tm.enter("clear; adze --model replay:model.txt --continue")
	tm.waitFor(`^❯ $`)
	if screen := tm.screen(); strings.Contains(screen, "rund it") || !strings.Contains(screen, "❯ round it up") {
		t.Errorf("the session goes on with\n%s", screen)
	}
	tm.enter("/exit")
	tm.waitFor(`To continue this session`)
}
