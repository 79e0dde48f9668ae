package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/ui/keys"
)

// TestBindings checks that the user's own file has precedence over the ecosystem's, which is
// never written, that changes apply immediately, and that problems are notes.
//
// Proves X-120, CMD-06.
func TestBindings(t *testing.T) {
	home, other := filepath.Join(t.TempDir(), "home"), t.TempDir()
	now := time.Unix(1000, 0)
	b := OpenBindings(home, other, func() time.Time { return now })
	stash := func() string { now = now.Add(2 * time.Second); return b.Map().Keys(keys.Stash) }
	write := func(dir, key string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, fileName), []byte(`{"bindings":[{"context":"Chat","bindings":{"ctrl+s":null,"`+key+`":"chat:stash"}}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := stash(); got != "Ctrl-S" || b.File() != "" || len(b.Check(t.Context()).Notes) > 0 {
		t.Errorf("without a file: %s", got)
	}
	write(other, "f1")
	if got := stash(); got != "F1" {
		t.Errorf("the ecosystem's: %s", got)
	}
	path, err := b.Commands().Create()
	if err != nil || path != filepath.Join(home, fileName) {
		t.Fatal(path, err)
	}
	if got := stash(); got != "F1" || b.File() != path {
		t.Errorf("the copy: %s in %s", got, b.File())
	}
	write(home, "f10")
	if got := stash(); got != "F10" {
		t.Errorf("changed: %s", got)
	}
	if again, err := b.Commands().Create(); err != nil || again != path || stash() != "F10" {
		t.Errorf("made again: %s, %v", again, err)
	}
	write(home, "ctrl+nokey")
	if notes := b.Check(t.Context()).Notes; len(notes) != 1 || !strings.Contains(notes[0], `unknown key "nokey"`) || len(b.Check(t.Context()).Problems) > 0 {
		t.Errorf("%q", notes)
	}
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := stash(); got != "Ctrl-S" || !strings.Contains(b.Problems()[0], "cannot be read") {
		t.Errorf("too large: %s, %q", got, b.Problems())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := stash(); got != "F1" {
		t.Errorf("removed: %s", got)
	}
	if _, err := OpenBindings("", "", time.Now).Commands().Create(); err == nil {
		t.Error("a file is made nowhere")
	}
}
