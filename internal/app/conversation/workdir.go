package conversation

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/permission"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
)

// A Dir is a conversation's working directory. It is safe for concurrent use.
type Workdir struct {
	// Changed is called on each change. It must be set before the first.
	Changed func(from, to string)

	gate *permission.Gate
	mu   sync.Mutex
	root string // initial directory, or the worktree
	now  string
}

// New returns the working directory of a conversation that starts in dir.
func NewWorkdir(dir string, g *permission.Gate) *Workdir {
	return &Workdir{root: dir, now: dir, gate: g, Changed: func(string, string) {}}
}

// Here returns the working directory.
func (d *Workdir) Here() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Home returns the conversation's initial directory, or its worktree.
func (d *Workdir) Home() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.root
}

// Relocate makes dir the conversation's root and working directory. left is the repository copy
// that the conversation has left, or "".
func (d *Workdir) Relocate(dir, left string) {
	d.mu.Lock()
	from := d.now
	d.root, d.now = dir, dir
	d.mu.Unlock()
	d.gate.Relocate(dir, left)
	if dir != from {
		d.Changed(from, dir)
	}
}

// Move makes dir the working directory, or the initial directory if dir is outside the roots.
// It returns the new working directory.
func (d *Workdir) Move(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && d.contains(real) && fsys.IsDir(real) {
		dir = real
	} else {
		dir = d.Home()
	}
	d.mu.Lock()
	from := d.now
	if sameFile(from, dir) {
		dir = from // keep its current name
	}
	d.now = dir
	d.mu.Unlock()
	if dir != from {
		d.gate.SetDir(dir)
		d.Changed(from, dir)
	}
	return dir
}

// contains reports whether a path without symlinks is inside any of the roots.
func (d *Workdir) contains(path string) bool {
	return slices.ContainsFunc(d.Roots(), func(root string) bool {
		real, err := filepath.EvalSymlinks(root)
		return err == nil && (path == real || paths.Relative(real, path) != path)
	})
}

// Roots returns the conversation's working directories.
func (d *Workdir) Roots() []string { return d.gate.Standing().Config().Dirs }

// sameFile reports whether two names refer to the same file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
