//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalGoesBack checks rewinding in a real terminal: a written file is restored, the
// message can be edited, and the model does not see later messages. A summary replaces the
// conversation, which then continues.
//
// Proves HIST-04, SESS-31, CTX-32.
func TestTerminalGoesBack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long answer about it ", 120)
	tm := newTerminal(t, 80, 30, `
when last "make it"
use Write {"file_path":"made.txt","content":"made\n"}
---
when last "Created"
say It is made.
---
expect no-text "make it"
expect text "explain it"
say `+long+`
---
expect text "explain it"
say <summary>It was explained.</summary>
---
expect text "It was explained."
expect no-text "a long answer about it a long answer"
say I remember the summary.
`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	made := filepath.Join(tm.dir, "made.txt")
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("make it")
	tm.answer(`Write made\.txt`, "1")
	tm.waitFor(`It is made\.\s*\n❯ $`)
	if _, err := os.Stat(made); err != nil {
		t.Fatal(err)
	}
	tm.enter("/rewind")
	tm.waitForPage(false, `(?s)^Rewind.*^▌ make it`)
	tm.key("Enter")
	tm.waitForPage(false, `(?s)^Rewind.*Back to before: make it.*made\.txt.*^▌ .*conversation`)
	tm.key("Enter")
	tm.waitFor(`^Back to before that message\.`)
	if _, err := os.Stat(made); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	tm.key("C-u")
	tm.enter("explain it")
	tm.waitFor(`long answer about it\s*\n❯ $`)
	tm.enter("/compact")
	screen := tm.waitFor(`The conversation was shortened from about .* tokens to .* tokens\.`)
	if strings.Contains(screen, "being summarised") {
		t.Errorf("what was going on is left behind:\n%s", screen)
	}
	tm.enter("what do you know?")
	tm.waitFor(`I remember the summary\.\s*\n❯ $`)
	tm.enter("/exit")
	tm.waitForShell()
}
