//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestTerminalTheme checks in a terminal that may report its background that the default theme
// fits it, that keys typed in the meantime are not lost, and that the user's messages have a
// band.
//
// Proves.
func TestTerminalTheme(t *testing.T) {
	for name, tt := range map[string]struct{ style, accent, band string }{
		"dark":    {"bg=#18191b", "38;2;125;207;255m", "48;2;34;38;56m"},
		"light":   {"bg=#fafafa", "38;2;5;80;174m", "48;2;238;242;255m"},
		"unknown": {"bg=default", "36m", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm := newTerminal(t, 80, 24, "forever\nsay Hello there.\n")
			tm.tmux("set-option", "-w", "window-style", tt.style)
			tm.enter("clear; COLORTERM=truecolor adze --model replay:model.txt")
			tm.tmux("send-keys", "-l", "greet")
			tm.waitFor(`^❯ greet$`)
			styled := func(string) bool { return strings.Contains(tm.tmux("capture-pane", "-p", "-e"), tt.accent) }
			tm.until(tt.accent+" does not appear", styled)
			tm.key("Enter")
			tm.waitFor(`Hello there\.`)
			if screen := tm.tmux("capture-pane", "-p", "-e"); !strings.Contains(screen, tt.band) || tt.band == "" && strings.Contains(screen, "48;2;") {
				t.Errorf("the screen is %q", screen)
			}
		})
	}
}
