package walk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCloseIdle checks that directories that wait for jobs are closed when descriptors run
// short, and reopened when needed. The root cannot be reopened.
func TestCloseIdle(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a/b/c"), 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := openRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{tree: newTree(Options{}, root, nil, 1)}
	top := w.newRoot(h)
	var arena arena
	a := top.newChild(arena.add("", "a"))
	b := a.newChild(arena.add("a", "b"))
	c := job{kind: readDir, dir: b.newChild(arena.add("a/b", "c"))}
	w.push(c)
	for _, d := range []*dir{a, b} {
		if _, err := d.hold(); err != nil {
			t.Fatal(err)
		}
		d.release()
	}
	if n := w.tree.open.Load(); n != 3 {
		t.Errorf("%d directories are open, want the root, a and b", n)
	}
	w.bound.Store(0)
	w.closeIdle()
	if n := w.tree.open.Load(); n != 1 {
		t.Errorf("%d directories are open, want the root", n)
	}
	if _, err := c.dir.hold(); err != nil {
		t.Fatal(err)
	}
	if n := w.tree.open.Load(); n != 2 {
		t.Errorf("%d directories are open, want the root and c", n)
	}
	c.dir.release()
	c.abandon()
	b.parent.forget()
	a.parent.forget()
	top.forget()
	if n := w.tree.open.Load(); n != 0 {
		t.Errorf("%d directories are left open", n)
	}
}
