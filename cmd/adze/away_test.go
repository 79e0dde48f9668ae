//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestTerminalRemarks checks that a returning user sees a summary, that a suggested next prompt
// is faint in the empty input, and that Enter alone does not send it. Both come from the small
// model, and the account lists them.
//
// Proves.
func TestTerminalRemarks(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 40, `
forever
when model claude-haiku-5-5
when system "Guess what the user"
expect text "Agent: The total is rounded once."
expect no-json tools
delay 800ms
say run the tests
---
forever
when model claude-haiku-5-5
when system "comes back after a while"
expect text "User: round once"
expect no-json tools
say The total is rounded once in cart.go. Next: nothing.
---
say The total is rounded once.
---
expect last "again"
say Again.
---
expect last "run the tests twice"
say They pass.
`)
	writeSettings(t, tm, `{"promptSuggestionEnabled":true,"awaySummaryMinutes":0.01,"sandbox":{"enabled":false}}`)
	tm.enter("clear; ADZE_SMALL_MODEL=haiku adze --model replay:model.txt")
	tm.waitFor(`^. $`)
	tm.enter("round once")
	tm.waitFor(`^. run the tests$`)
	if styled := tm.tmux("capture-pane", "-p", "-e"); !regexp.MustCompile(`\x1b\[2m(\x1b\[39m)?run the tests`).MatchString(styled) {
		t.Errorf("it looks as if it were typed:\n%q", styled)
	}
	if at := tm.tmux("display-message", "-p", "#{cursor_x}"); strings.TrimSpace(at) != "2" {
		t.Errorf("the cursor is in column %s", at)
	}
	tm.key("Enter") // sends nothing
	tm.waitFor(`^. $`)
	tm.enter("again")
	tm.waitFor(`^Again\.[\s\S]*^. run the tests$`)
	tm.key("Tab")
	tm.tmux("send-keys", "-l", " twice")
	tm.key("Enter")
	tm.tmux("send-keys", "-l", "\x1b[O") // the user switches to another window
	tm.waitFor(`^They pass\.[\s\S]*^. run the tests$`)
	tm.tmux("send-keys", "-l", "\x1b[I")
	tm.waitFor(`^They pass\.[\s\S]*^The total is rounded once in cart\.go\. Next: nothing\.$`)
	tm.key("C-u")
	tm.enter("/cost")
	tm.waitFor(`summaries for a user who was away[\s\S]*suggested prompts|suggested prompts[\s\S]*summaries for a user who was away`)
}

// TestTerminalTips checks that a tip is shown once per machine, in either front end, and never
// if the settings disable tips.
//
// Proves X-134.
func TestTerminalTips(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 40, "forever\nsay Done with it.\n")
	start := func(flags, prompt string) {
		t.Helper()
		tm.enter("clear; adze --model replay:model.txt " + flags)
		tm.waitFor(prompt)
	}
	leave := func() string {
		t.Helper()
		tm.enter("/exit")
		tm.waitForShell()
		return tm.screen()
	}
	writeSettings(t, tm, `{"spinnerTipsEnabled":false,"sandbox":{"enabled":false}}`)
	start("", `^❯ $`)
	tm.enter("undo that")
	tm.waitFor(`^Done with it\.`)
	if screen := leave(); strings.Contains(screen, "Tip:") {
		t.Errorf("tips are off:\n%s", screen)
	}
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	start("", `^❯ $`)
	tm.enter("undo that")
	tm.waitFor(`^Done with it\.\n\nTip: Esc twice, or /rewind, goes back to an earlier message`)
	tm.enter("remember: tabs") // one tip per session
	tm.waitFor(`tabs\n\nDone with it\.`)
	if screen := leave(); strings.Contains(screen, "Tip: a line") {
		t.Errorf("two tips in a session:\n%s", screen)
	}
	start("--plain", `^> $`)
	tm.enter("remember: tabs")
	tm.waitFor(`^Tip: a line that begins with # is kept for later sessions: # use tabs$`)
	leave()
	start("", `^❯ $`)
	tm.enter("undo that")
	tm.waitFor(`^Done with it\.`)
	if screen := leave(); strings.Contains(screen, "Tip:") {
		t.Errorf("the tip was given before:\n%s", screen)
	}
}
