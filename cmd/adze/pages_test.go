//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// waitForPage waits until the alternate screen is shown or hidden, and returns the screen.
func (tm *terminal) waitForPage(shown bool, pattern string) string {
	tm.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	want := map[bool]string{true: "1", false: "0"}[shown]
	deadline := time.Now().Add(time.Minute)
	for {
		on := strings.TrimSpace(tm.tmux("display-message", "-p", "#{alternate_on}"))
		screen := unframed(tm.tmux("capture-pane", "-p"))
		if on == want && re.MatchString(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			tm.t.Fatalf("alternate screen %s, and %q does not appear:\n%s", on, pattern, screen)
		}
		time.Sleep(20 * time.Millisecond) // tmux offers no other way to wait
	}
}

func writeSettings(t *testing.T, tm *terminal, text string) {
	t.Helper()
	write(t, filepath.Join(tm.home, "settings.json"), text)
}

// quiet writes settings without offers and tips, which appear at unpredictable times.
func quiet(t *testing.T, home string) {
	t.Helper()
	write(t, filepath.Join(home, "settings.json"), `{"sandbox":{"enabled":false},"spinnerTipsEnabled":false}`)
}

// TestTerminalPages checks that long texts and lists take the whole terminal and restore it:
// after they are closed, resized or suspended, and when the program ends while one is open.
//
// Proves CMD-04, CTX-18, SESS-20, SESS-31.
func TestTerminalPages(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			tm := newTerminal(t, size[0], size[1], "forever\nwhen last \"greet\"\nsay Hello, I am a script.\n")
			writeSettings(t, tm, `{"sandbox":{"enabled":false}}`) // otherwise it may be offered at any time
			tm.enter("clear; adze --model replay:model.txt")
			tm.waitFor(`^[>❯] ?$`)
			tm.enter("greet")
			before := tm.waitFor(`(?s)Hello, I am a script\.\s*\n[>❯] ?\n[^\n]* [1-9]\d*%[^\n]*\s*\z`) // output has ended

			tm.key("C-o")
			tm.waitForPage(true, `Hello, I am a script\.`)
			tm.key("q")
			tm.waitForPage(false, `Hello, I am a script\.`)
			if after := tm.screen(); after != before {
				t.Fatalf("the page has left something behind:\n%s\nbefore:\n%s", after, before)
			}

			tm.key("Escape")
			tm.key("Escape")
			tm.waitForPage(false, `(?s)^Rewind.*^▌ greet.*^  Back to before: greet`)
			tm.key("Enter")
			tm.waitForPage(false, `^▌ conversation`)
			tm.key("Escape")
			tm.waitForPage(false, `(?s)^Rewind.*^▌ greet`)
			tm.key("Escape")
			tm.waitForPage(false, `^[>❯] ?$`)

			tm.enter("/config")
			tm.waitForPage(true, `^▌ model`)
			tm.tmux("send-keys", "-l", "autoCompactP")
			tm.waitForPage(true, `^▌ autoCompactPercent`)
			tm.tmux("resize-window", "-x", "60", "-y", "15")
			tm.waitForPage(true, `(?s)\ASettings.*▌ autoCompactPercent.*Esc\n\z`)
			tm.tmux("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
			tm.waitForPage(true, `(?s)\ASettings.*▌ autoCompactPercent`)

			tm.key("C-z")
			tm.waitForPage(false, `Stopped`)
			tm.enter("fg")
			tm.waitForPage(true, `^▌ autoCompactPercent`)
			tm.key("Escape")
			tm.waitForPage(true, `^▌ model`)
			tm.key("Escape")
			tm.waitForPage(false, `^[>❯] ?$`)

			tm.enter("/help all")
			tm.waitForPage(true, `line 1 of [0-9]+`)
			tm.key("G")
			tm.waitForPage(true, `^end of [0-9]+ lines`)
			tm.key("q")
			tm.waitForPage(false, `⋯ [0-9]+ rows`)

			tm.enter("/context")
			tm.waitFor(`all lists every part`)
			tm.key("q") // quits the pager in a low terminal; typed elsewhere
			tm.key("C-c")

			tm.enter("/model")
			tm.waitForPage(false, `^▌ default`)
			shell := strings.TrimSpace(tm.tmux("display-message", "-p", "#{pane_pid}"))
			if out, err := exec.Command("pkill", "-TERM", "-P", shell).CombinedOutput(); err != nil {
				t.Fatalf("ending: %v\n%s", err, out)
			}
			tm.waitForPage(false, `^\$ ?$`)
		})
	}
}
