//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalAsksAboutIncludes checks that the user is prompted once, before anything is sent,
// about a file outside the project that its instructions include, and that either answer is
// remembered.
//
// Proves CTX-23.
func TestTerminalAsksAboutIncludes(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 120, 24, `
forever
when text "Wanted text"
expect no-text "Unwanted text"
say I see it.
`)
	for name, text := range map[string]string{
		"wanted.md": "Wanted text.", "unwanted.md": "Unwanted text.", "project/CLAUDE.md": "See @../wanted.md and @../unwanted.md.",
	} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(tm.dir), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const run = "clear; adze --trust --model replay:model.txt"
	tm.enter(run)
	tm.answer(`/wanted\.md,\s+which\s+is\s+outside\s+the\s+project\.\s+Show\s+it\s+to\s+the\s+model`, "y")
	tm.answer(`/unwanted\.md,\s+which\s+is\s+outside\s+the\s+project\.\s+Show\s+it\s+to\s+the\s+model`, "n")
	tm.waitFor(`^❯ $`)
	tm.enter("hello")
	tm.waitFor(`I see it\.`)
	tm.enter("/context")
	tm.waitFor(`includes\s+\.\./unwanted\.md,\s+which\s+is\s+outside\s+the\s+project\s+and\s+was\s+not\s+approved`) // regardless of line breaks
	tm.waitFor(`^❯ $`)
	tm.enter("/exit")
	tm.waitForShell()

	tm.enter(run)
	if screen := tm.waitFor(`^❯ $`); strings.Contains(screen, "outside the project") {
		t.Errorf("asked again:\n%s", screen)
	}
	tm.enter("hello again")
	tm.waitFor(`I see it\.`)
	if entries, err := os.ReadDir(tm.dir); err != nil || len(entries) != 2 {
		t.Errorf("something was written to the project: %v, %v", entries, err)
	}
	tm.key("C-d")
	tm.waitForShell()
}
