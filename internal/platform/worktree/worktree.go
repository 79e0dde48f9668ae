// Package worktree makes working copies of a repository with git, for agents and sessions that work beside each other,
// and removes them when nothing in them can be lost. A copy is whole or not there: what a failure leaves is undone, and
// what a process leaves that was killed is found by its record at the next start. Git is run only where a judge has no
// doubts about the repository, and runs no hook of it. Who works in a copy, and what may be written there, is left to
// others.
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

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
)

// A Config is what worktrees are made with.
type Config struct {
	Judge *gitrepo.Judge
	Run   *osproc.Runner
	// Records is the folder, outside of repositories, where it is written down which worktrees there are, and
	// which process uses them.
	Records string
	// Make makes a worktree in place of git and returns where it is; "" means that git is to make it. May be nil.
	Make func(ctx context.Context, name string) (path string, err error)
	// Removing is told of a worktree that is about to be removed: one that Make made, it removes itself. May be nil.
	Removing func(ctx context.Context, path string) error
}

// Trees are the worktrees of repositories. They are safe for concurrent use.
type Trees struct {
	cfg   Config
	alive func(owner) bool
	now   func() time.Time
	// step, if not nil, is asked before each step and can make it fail.
	step func(name string) error

	mu sync.Mutex // held while settings of a repository are written, which git does not wait for
}

// New returns the worktrees that are made with a configuration.
func New(c Config) *Trees { return &Trees{cfg: c, alive: owner.alive, now: time.Now} }

// A Purpose is what a worktree is for.
type Purpose string

const (
	Session Purpose = "session"
	// Agent worktrees are removed when they have not been used for a long time; see [Trees.Sweep].
	Agent Purpose = "agent"
)

// Options say which worktree is wanted.
type Options struct {
	Dir  string // in the copy of the repository whose HEAD the worktree starts from
	Name string // see [CheckName]; empty means one that is not in use
	For  Purpose
	// Links are directories that the worktree shares with the main copy by symbolic links, Sparse those that are
	// checked out if not all are. Both are relative to the main copy.
	Links, Sparse []string
	// Copies are files that are copied if they exist, relative to the main copy.
	Copies []string
}

// A Tree is a worktree that this process uses.
type Tree struct {
	Name string
	Root string // the main copy, or where the worktree was asked for if a hook made it
	Path string
	// Branch is the one that was made for the worktree, and Base the commit that it began with; both are empty if a
	// hook made the worktree.
	Branch, Base string
	ByHook       bool
	Notes        []string // what the user should know, such as files that were not copied

	trees *Trees
}

// Create makes a worktree. On an error nothing of it is left.
func (t *Trees) Create(ctx context.Context, o Options) (*Tree, error) {
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

// adopt takes down a worktree that a hook has made.
func (t *Trees) adopt(ctx context.Context, o Options, path string) (*Tree, error) {
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

// rootFor returns the main copy of the repository of dir, or dir itself outside of one.
func (t *Trees) rootFor(dir string) string {
	if r, err := t.repository(dir); err == nil {
		return r.root
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func (t *Trees) tree(r record) *Tree {
	return &Tree{Name: r.Name, Root: r.Root, Path: r.Path, Branch: r.Branch, Base: r.Base, ByHook: r.ByHook, trees: t}
}

// Open uses a worktree that was made before, from a directory in any copy of its repository. The error is
// [ErrNone] if there is none of that name.
func (t *Trees) Open(ctx context.Context, dir, name string) (*Tree, error) {
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

// RemoveNamed removes a worktree that no process uses, by its name; see [Tree.Remove].
func (t *Trees) RemoveNamed(ctx context.Context, dir, name string, c Changes) (note string, err error) {
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

// ErrNone says that there is no worktree.
var ErrNone = errors.New("there is no worktree")

// Release says that this process does not use the worktree any more. It stays.
func (w *Tree) Release(ctx context.Context) error {
	return w.trees.change(ctx, w.Root, w.Name, func(r *record) error {
		r.Owner, r.Used = owner{}, w.trees.now()
		return nil
	})
}
