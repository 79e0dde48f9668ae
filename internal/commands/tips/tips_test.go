package tips

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Proves X-134.
func TestFor(t *testing.T) {
	for _, tt := range []struct {
		name string
		deed Action
		want string
	}{
		{"nothing", Action{}, ""},
		{"a message", Action{Said: "fix the parser"}, ""},
		{"the second yes", Action{Approved: 2}, ""},
		{"the third yes", Action{Approved: 3}, "rule"},
		{"many lines", Action{Said: strings.Repeat("x\n", 40)}, "paste"},
		{"a long line", Action{Said: strings.Repeat("x", 4000)}, "paste"},
		{"some lines", Action{Said: strings.Repeat("x\n", 39)}, ""},
		{"another directory", Action{Said: "look at /srv/www", Outside: true}, "directory"},
		{"stopped before", Action{Said: "no, the other one", Stopped: true}, "steer"},
		{"undo", Action{Said: "Undo that, please."}, "undo"},
		{"revert", Action{Said: "revert"}, "undo"},
		{"a file of that name", Action{Said: "undo.go has a bug"}, ""},
		{"a task about it", Action{Said: "undo must restore the caret and the selection after a paste in vim mode"}, ""},
		{"remember", Action{Said: "remember: we use tabs"}, "note"},
		{"continue at first", Action{Said: "Continue.", First: true}, "resume"},
		{"continue later", Action{Said: "continue"}, ""},
		{"blank", Action{Said: " \n"}, ""},
	} {
		if got := For(tt.deed); got != tt.want {
			t.Errorf("%s: %q, not %q", tt.name, got, tt.want)
		}
	}
}

func on() bool { return true }

// TestTake checks that a tip is given once per machine, even with concurrent callers, and not
// if it cannot be recorded or tips are disabled.
//
// Proves X-134.
func TestTake(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	var given atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if (Store{Home: home, On: on}).Take(t.Context(), "undo") == "Tip: /rewind goes back to an earlier message and its files." {
				given.Add(1)
			}
		})
	}
	wg.Wait()
	if given.Load() != 1 {
		t.Errorf("given %d times", given.Load())
	}
	if got := (Store{Home: home, On: on}).Take(t.Context(), "rule"); got == "" {
		t.Error("another tip is not given")
	}
	for name, box := range map[string]Store{"no home": {On: on}, "not wanted": {Home: home, On: func() bool { return false }}} {
		if got := box.Take(t.Context(), "paste"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := (Store{Home: home, On: on}).Take(t.Context(), "unknown"); got != "" {
		t.Errorf("%q", got)
	}
	if got := (Store{Home: t.TempDir(), On: on, Keys: true}).Take(t.Context(), "undo"); !strings.HasPrefix(got, "Tip: Esc twice, or /rewind, goes") {
		t.Errorf("%q", got)
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, fileName), []byte("{\"shown\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := (Store{Home: broken, On: on}).Take(t.Context(), "undo"); got != "" {
		t.Errorf("it cannot be noted, and yet: %q", got)
	}
}

// TestTexts checks that each tip has a text that fits into a row.
func TestTexts(t *testing.T) {
	for _, name := range []string{"rule", "directory", "paste", "undo", "note", "steer", "resume"} {
		if text := catalogue()[name]; text == "" || len(text) > 74 {
			t.Errorf("%s: %q", name, text)
		}
	}
	if len(catalogue()) != 7 {
		t.Errorf("there are %d", len(catalogue()))
	}
}
