//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalLogin checks that a login in a conversation owns the terminal: input goes to it
// without echo, and Ctrl-C ends only the login. Afterwards keys arrive one by one again.
//
// Proves CMD-04.
func TestTerminalLogin(t *testing.T) {
	tm := newTerminal(t, 100, 30, "forever\nsay Hello, I am a script.\n")
	tm.enter("clear; DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("/login")
	tm.waitFor(`(?s)Which provider is the key for\?.*Enter select`)
	tm.key("C-c")
	tm.waitFor(`^❯ $`)
	tm.enter("/login anthropic --no-check")
	tm.waitFor(`Key: $`)
	tm.key("C-c")
	tm.waitFor(`^❯ $`)
	tm.enter("/login anthropic --no-check")
	tm.waitFor(`Key: $[^$]*Key: $`)
	tm.enter("sk-typed-in-a-session")
	tm.waitFor(`Saved the key for anthropic`)
	tm.waitFor(`/clear starts a conversation`)
	tm.tmux("send-keys", "-l", "/versiom")
	tm.key("BSpace")
	tm.enter("n")
	tm.waitFor(`^adze \d`)
	tm.enter("hello")
	tm.waitFor(`Hello, I am a script\.`)
	if screen := tm.screen(); strings.Contains(screen, "sk-typed") {
		t.Errorf("the key is on the screen:\n%s", screen)
	}
	data, err := os.ReadFile(filepath.Join(tm.home, "credentials.json"))
	if err != nil || !strings.Contains(string(data), "sk-typed-in-a-session") {
		t.Errorf("%s, %v", data, err)
	}
}
