//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// answer presses keys one by one when a question accepts them, and returns the screen with the
// question. The question must be visible for a while first: an earlier key belongs to the
// composer, and the question waits again.
func (tm *terminal) answer(question string, keys ...string) string {
	tm.t.Helper()
	const takes = `[\s\S]*(Enter select|Enter accept)`
	screen := tm.waitFor(question + takes)
	for _, key := range keys {
		typed := regexp.MustCompile(`(?m)^\S ` + regexp.QuoteMeta(key) + ` *$`)
		for before := tm.screen(); ; before = tm.waitFor(takes) {
			time.Sleep(600 * time.Millisecond) // probably visible by then
			tm.key(key)
			after := tm.until(key+" does nothing", func(screen string) bool { return screen != before })
			if !strings.Contains(after, "Tab to answer") || !typed.MatchString(after) {
				break
			}
			tm.key("C-u")
		}
	}
	return screen
}

// TestTerminalDialogs checks prompts in a real terminal: keys meant for the composer do not
// answer them; a denial with a message, a change that the user edits first, choices, and a plan
// that is executed with a fresh context.
//
// Proves PERM-17, EDIT-12, PLAN-04, PLAN-05, X-009, X-016.
func TestTerminalDialogs(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 40, `
use Bash {"command":"git ls-files -o -z | xargs -0 rm -f","description":"remove untracked files"}
---
when last "only under tmp"
use Write {"file_path":"made.txt","content":"made\n"}
---
when last "The user changed your proposal"
use AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"red","description":"like a rose"},{"label":"blue","description":"like the sea"}]}]}
---
when last "blue"
use EnterPlanMode {"reason":"it is large"}
---
use ExitPlanMode {"plan":"1. Round once\n2. Drop Round\n"}
---
when last "Carry out this plan"
say I carry it out.
`)
	if err := os.MkdirAll(tm.home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tm.home, "settings.json"), []byte(`{"sandbox":{"enabled":false}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	editor := filepath.Join(tm.dir, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i -e 's/made/edited/' -e 's/Drop Round/Keep Round/' \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tm.enter("clear; EDITOR=" + editor + " adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("go")
	tm.waitFor(`Tab to answer`)
	tm.tmux("send-keys", "-l", "1") // meant for the composer
	tm.waitFor(`^. 1$`)
	tm.key("C-u")
	screen := tm.answer(`xargs -0 rm -f`, "4")
	if !strings.Contains(screen, "─ ! Run git ls-files -o -z | xargs -0 rm -f ── This deletes files ──") {
		t.Error(screen)
	}
	tm.tmux("send-keys", "-l", "only under tmp")
	tm.answer(`only under tmp`, "Enter")

	tm.answer(`Write made.txt`, "C-g")
	tm.waitFor(`You changed the new text`)
	tm.answer(`Write made.txt  \+1 -0 ─+\n +You changed the new text[\s\S]*\+ *edited`, "1")
	tm.answer(`Which colour\?`, "2")
	if data, err := os.ReadFile(filepath.Join(tm.dir, "made.txt")); string(data) != "edited\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	tm.answer(`Plan before acting`, "1")
	tm.answer(`Go ahead with this plan\?`, "C-g")
	tm.answer(`as you changed it ─+\n +1. Round once\n +2. Keep Round`, "3")
	tm.waitFor(`I carry it out\.`)
	tm.enter("/exit")
	tm.waitFor(`To continue this session`)
	for _, want := range []string{"Run git ls-files -o -z | xargs -0 rm -f", "  1. Round once"} {
		if screen := tm.screen(); !strings.Contains(screen, want) {
			t.Errorf("%q is not in the scrollback:\n%s", want, screen)
		}
	}
}
