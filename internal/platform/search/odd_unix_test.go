//go:build unix

package search

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/platform/search/walk"
)

// TestOddTrees searches trees with entries that are not files or do not stay.
func TestOddTrees(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := fixture(t, map[string]string{"a": "foo\n", "odd\nname": "foo\n", "bad\xffname": "foo\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	e := New(Config{Cold: true})
	defer e.Close()
	r, err := e.Grep(t.Context(), GrepOptions{Root: dir, Pattern: "foo", Mode: Count})
	if err != nil || len(r.Files) != 3 || r.Unreadable != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := e.Grep(t.Context(), GrepOptions{Root: filepath.Join(dir, "fifo"), Pattern: "foo"}); err == nil {
		t.Error("a FIFO was searched")
	}
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	e.open = func(b *walk.Batch, entry walk.Entry) (file, error) {
		os.RemoveAll(dir) // ok: leftovers are reported
		return b.Open(entry)
	}
	if _, err := e.Grep(t.Context(), GrepOptions{Root: dir, Pattern: "foo"}); err != nil {
		t.Errorf("a tree that vanishes: %v", err)
	}
	if _, err := e.Grep(t.Context(), GrepOptions{Root: gone, Pattern: "foo"}); err == nil {
		t.Error("a directory that is gone was searched")
	}
}
