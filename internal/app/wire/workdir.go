package wire

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/app/worktrees"
	"adze/internal/permission"
	"adze/internal/platform/paths"
)

// A workdir is the working directory of a conversation: all tools and the permission check read it.
type workdir struct {
	gate    *permission.Gate
	changed func(from, to string)
	trees   *worktrees.Place // worktrees of the repository; nil if there can be none
	news    string           // what is to be told of where a resumed session works

	mu   sync.Mutex
	root string // where the conversation started, or its worktree
	now  string
}

func newWorkdir(dir string, g *permission.Gate) *workdir {
	return &workdir{root: dir, now: dir, gate: g, changed: func(string, string) {}}
}

func (w *workdir) here() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// home returns where the conversation started, or its worktree.
func (w *workdir) home() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.root
}

// relocate makes dir the root of the conversation, and its working directory. Left is the copy of the repository that the
// conversation works beside, or "".
func (w *workdir) relocate(dir, left string) {
	w.mu.Lock()
	from := w.now
	w.root, w.now = dir, dir
	w.mu.Unlock()
	w.gate.Relocate(dir, left)
	if dir != from {
		w.changed(from, dir)
	}
}

// move makes dir the working directory, or the one where the conversation started if dir lies in none of its
// roots. It returns which one it is.
func (w *workdir) move(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && w.contains(real) && isDir(real) {
		dir = real
	} else {
		dir = w.home()
	}
	w.mu.Lock()
	from := w.now
	if sameFile(from, dir) {
		dir = from // under the name it has
	}
	w.now = dir
	w.mu.Unlock()
	if dir != from {
		w.gate.SetDir(dir)
		w.changed(from, dir)
	}
	return dir
}

// contains reports whether a path without links lies in one of the roots.
func (w *workdir) contains(path string) bool {
	return slices.ContainsFunc(w.roots(), func(root string) bool {
		real, err := filepath.EvalSymlinks(root)
		return err == nil && (path == real || paths.Relative(real, path) != path)
	})
}

// roots returns the working directories.
func (w *workdir) roots() []string { return w.gate.Policy().Config().Dirs }

// sameFile reports whether two names lead to the same file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
