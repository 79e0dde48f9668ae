// Package worktree creates git worktrees for agents and sessions that work in parallel, and
// removes them when nothing would be lost.
//
// A worktree is complete or absent: failures are undone, and the remains of a killed process
// are found by their record at the next start. Git only runs in repositories that a judge has
// approved, and runs none of their hooks.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
)

// Config configures Manager.
type Config struct {
	Judge *gitrepo.Judge
	Run   *osproc.Runner
	// Records is a directory outside repositories that records which worktrees exist and which
	// processes use them.
	Records string
	// Make, if not nil, creates a worktree in place of git and returns its path; "" means that
	// git should create it.
	Make func(ctx context.Context, name string) (path string, err error)
	// BeforeRemove, if not nil, is called before a worktree is removed. It must remove worktrees
	// that Make created.
	BeforeRemove func(ctx context.Context, path string) error
	// Refuse, if not nil, returns the reason why the repository with this main working tree
	// gets no worktrees, or nil.
	Refuse func(root string) error
}

// Manager manages the worktrees of repositories. It is safe for concurrent use.
type Manager struct {
	cfg   Config
	alive func(owner) bool
	now   func() time.Time
	// step, if not nil, is called before each step and can make it fail.
	step func(name string) error

	mu sync.Mutex // held while repository settings are written, because git does not lock them
}

// New returns Manager with the given configuration.
func New(c Config) *Manager { return &Manager{cfg: c, alive: owner.alive, now: time.Now} }

// A Purpose is the purpose of a worktree.
type Purpose string

const (
	Session Purpose = "session"
	// Agent worktrees are removed when they have been unused for a long time; see
	// [Manager.Sweep].
	Agent Purpose = "agent"
)

// Options specifies the worktree to create.
type Options struct {
	Dir  string // directory in the working tree whose HEAD is the start commit
	Name string // see [CheckName]; empty means an unused random name
	For  Purpose
	// Links are directories that the worktree shares with the main working tree through
	// symlinks. Sparse are the directories to check out; empty means all. Both are relative to
	// the main working tree.
	Links, Sparse []string
	// Copies are files to copy if they exist, relative to the main working tree.
	Copies []string
}

// A Tree is a worktree that this process uses.
type Tree struct {
	Name string
	Root string // main working tree, or the requested directory if a hook created it
	Path string
	// Branch is the branch created for the worktree and Base is its start commit. Both are
	// empty if a hook created the worktree.
	Branch, Base string
	ByHook       bool
	Notes        []string // notes for the user, such as files that were not copied

	trees *Manager
}

// Create creates a worktree. On error it leaves nothing behind.
func (t *Manager) Create(ctx context.Context, o Options) (*Tree, error) {
	if o.Name == "" {
		o.Name = randomName()
	}
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	if t.cfg.Make != nil {
		path, err := t.cfg.Make(ctx, o.Name)
		if err != nil {
			return nil, fmt.Errorf("the hook that makes worktrees: %w", err)
		}
		if path != "" {
			return t.adopt(ctx, o, path)
		}
	}
	r, err := t.repository(o.Dir)
	if err != nil {
		return nil, err
	}
	return t.make(ctx, r, o)
}

// adopt records a worktree that a hook has created.
func (t *Manager) adopt(ctx context.Context, o Options, path string) (*Tree, error) {
	if strings.ContainsAny(path, "\n\r\x00") || !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the hook that makes worktrees answered %q: it has to print an absolute path and nothing else", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("the hook that makes worktrees: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the hook that makes worktrees answered %s, which is not a directory", path)
	}
	rec := record{Name: o.Name, Root: t.rootFor(o.Dir), Path: real, For: o.For, ByHook: true, Phase: ready}
	if err := t.begin(ctx, &rec); err != nil {
		return nil, err
	}
	return t.tree(rec), nil
}

// rootFor returns the main working tree of dir's repository, or dir itself outside a
// repository.
func (t *Manager) rootFor(dir string) string {
	if r, err := t.repository(dir); err == nil {
		return r.root
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func (t *Manager) tree(r record) *Tree {
	return &Tree{Name: r.Name, Root: r.Root, Path: r.Path, Branch: r.Branch, Base: r.Base, ByHook: r.ByHook, trees: t}
}

// Open opens an existing worktree by name, from a directory in any working tree of its
// repository, and marks it as used by this process. The error is [ErrNone] if the worktree does
// not exist.
func (t *Manager) Open(ctx context.Context, dir, name string) (*Tree, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var rec record
	err := t.change(ctx, t.rootFor(dir), name, func(r *record) error {
		switch {
		case r.Phase == making || r.Phase == removing:
			return fmt.Errorf("%w called %s", ErrNone, name)
		case r.inUse(t):
			return fmt.Errorf("the worktree %s is in use by %s", name, r.Owner)
		}
		if info, err := os.Lstat(r.Path); err != nil || !info.IsDir() {
			return fmt.Errorf("%w called %s: %s is not there any more", ErrNone, name, r.Path)
		}
		r.Owner, r.Used = self(), t.now()
		rec = *r
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.cfg.Judge.Made(rec.Path)
	return t.tree(rec), nil
}

// RemoveNamed removes a worktree by name if no process uses it; see [Tree.Remove].
func (t *Manager) RemoveNamed(ctx context.Context, dir, name string, c Changes) (note string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	var rec record
	err = t.change(ctx, t.rootFor(dir), name, func(r *record) error {
		switch {
		case r.inUse(t):
			return fmt.Errorf("the worktree %s is in use by %s", name, r.Owner)
		case r.Phase != ready:
			return fmt.Errorf("%w called %s", ErrNone, name)
		}
		r.Owner = self()
		rec = *r
		return nil
	})
	if err != nil {
		return "", err
	}
	t.cfg.Judge.Made(rec.Path)
	tree := t.tree(rec)
	note, err = tree.Remove(ctx, c)
	if err != nil {
		err = errors.Join(err, tree.Release(ctx))
	}
	return note, err
}

// ErrNone means that the worktree does not exist.
var ErrNone = errors.New("no worktree")

// Release ends this process's use of the worktree and keeps it.
func (w *Tree) Release(ctx context.Context) error {
	return w.trees.change(ctx, w.Root, w.Name, func(r *record) error {
		r.Owner, r.Used = owner{}, w.trees.now()
		return nil
	})
}
