package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalComesBack checks that a session that was killed in the middle of a turn comes back
// as it was: title, messages, calls with their outcomes, what the user ran, and the permission
// mode. A paste stays a placeholder, also after a compaction and when it is rewound.
//
// Proves SESS-20, SESS-22.
func TestTerminalComesBack(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 90, 40, `
when last "greet politely"
use Read {"file_path":"a.txt"}
---
use Edit {"file_path":"a.txt","old_string":"hello","new_string":"good morning"}
---
use Bash {"command":"echo begun; exit 3"}
---
use Write {"file_path":"b.txt","content":"new\n"}
---
say Done, **politely**.
---
when last "deploy it"
use Bash {"command":"./deploy now"}
---
when last "of the log"
use Bash {"command":"touch started; sleep 1000"}
---
forever
say All right.
`)
	again := "say " + strings.Repeat("a long answer about it ", 120) + "\n---\nsay <summary>There was a greeting.</summary>\n"
	if err := os.WriteFile(filepath.Join(tm.dir, "again.txt"), []byte(again), 0o644); err != nil {
		t.Fatal(err)
	}
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	if err := os.WriteFile(filepath.Join(tm.dir, "a.txt"), []byte("hello\nworld\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("greet politely")
	tm.answer(`Edit a\.txt`, "2")
	tm.waitFor(`Done, politely\.\s*\n❯ $`)
	tm.enter("deploy it")
	tm.answer(`deploy now`, "3")
	tm.waitFor(`What next\?\s*\n❯ $`)
	tm.enter("!echo ran by hand")
	tm.waitFor(`^  ran by hand\s*\n❯ $`)
	tm.tmux("set-buffer", "-b", "paste", strings.Repeat("a line of the log\n", 30))
	tm.tmux("send-keys", "-l", "why ")
	tm.tmux("paste-buffer", "-b", "paste", "-p")
	tm.waitFor(`^❯ why \[Pasted text #1 \+30 lines\]`)
	tm.key("Enter")
	tm.answer(`sleep 1000`, "1")
	until(t, "the command runs", func() bool {
		_, err := os.Stat(filepath.Join(tm.dir, "started"))
		return err == nil
	})
	tm.kill()

	tm.enter("clear; adze --model replay:again.txt --continue")
	screen := tm.waitFor(`(?s)Continuing "greet politely".*^❯ $`)
	for _, row := range []string{
		"❯ greet politely\n", "✓ Read a.txt\n", "✓ Updated a.txt +1 -1\n", "1 -hello\n", "1 +good morning\n", "✗ echo begun; exit 3: exit code 3\n  begun\n", "✗ Run ./deploy now: not run: you said no\n",
		"✓ Created b.txt +1 -0\n", "Done, politely.\n", "❯ !echo ran by hand\n", "  ran by hand\n",
		"❯ why [Pasted text #1 +30 lines]\n", "✗ Run touch started; sleep 1000: adze ended before it finished.\n", "accept edits",
	} {
		if !strings.Contains(trimRows(screen), row) {
			t.Errorf("%q is missing:\n%s", row, screen)
		}
	}
	tm.enter("/rewind")
	tm.waitFor(`(?s)^Rewind.*^▌ why`)
	tm.key("Enter")
	tm.waitFor(`(?s)^Rewind.*^▌ conversation`)
	tm.key("Enter")
	tm.waitFor(`(?s)Back to before that message\..*^❯ why \[Pasted text #1 \+30 lines\]`)
	tm.key("C-u")
	tm.enter("explain it")
	tm.waitFor(`long answer about it\s*\n❯ $`)
	tm.enter("/compact")
	tm.waitFor(`The conversation was shortened`)
	tm.enter("/exit")
	tm.waitFor(`adze --resume`)
	tm.waitForShell()
	tm.enter("clear; adze --model replay:again.txt --continue")
	screen = tm.waitFor(`(?s)Continuing "greet politely".*The conversation was summarised here\..*^❯ $`)
	if !strings.Contains(screen, "✓ Updated a.txt +1 -1") || strings.Contains(screen, "There was a greeting") || strings.Contains(screen, "Pasted text") {
		t.Errorf("after the compaction:\n%s", screen)
	}
	tm.enter("/exit")
	tm.waitFor(`adze --resume`)
	tm.waitForShell()
}

// trimRows removes the blanks at the ends of rows.
func trimRows(screen string) string {
	rows := strings.Split(screen, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return strings.Join(rows, "\n")
}
