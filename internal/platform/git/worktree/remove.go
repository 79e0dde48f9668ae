package worktree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ChangedError is the error for removing a worktree in which changes would be lost.
type ChangedError struct {
	Tree  *Tree
	State State
}

// Error lists the changes that would be lost.
func (c *ChangedError) Error() string {
	if c.State.Locked != "" {
		return fmt.Sprintf("the worktree %s is locked: %s; git worktree unlock lets it be removed", c.Tree.Name, c.State.Locked)
	}
	return fmt.Sprintf("the worktree %s has %s:\n%s", c.Tree.Name, c.State, c.State.List())
}

// List lists the changes, one per line.
func (s State) List() string {
	lines := append([]string{}, s.Files...)
	if n := s.FileCount - len(s.Files); n > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", plural(n, "change")))
	}
	for _, c := range s.Commits {
		lines = append(lines, "commit "+c)
	}
	if n := s.CommitCount - len(s.Commits); n > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", plural(n, "commit")))
	}
	return strings.Join(lines, "\n")
}

// Changes specifies how to treat changes in a worktree that is removed.
type Changes bool

const (
	Keep    Changes = false // keep the worktree if it has changes
	Discard Changes = true
)

// Remove removes the worktree and its branch. If it has changes, Remove fails with [ChangedError]
// unless they are to be discarded. A locked worktree is never removed. The note describes
// anything that is left.
func (w *Tree) Remove(ctx context.Context, c Changes) (note string, err error) {
	return w.removeIf(ctx, func(s State) bool { return c == Discard || s.Clean() })
}

// removeIf removes the worktree if allows returns true for its state.
func (w *Tree) removeIf(ctx context.Context, allows func(State) bool) (note string, err error) {
	rec, err := w.trees.recall(w.Root, w.Name)
	if err != nil {
		return "", err
	}
	if rec.ByHook {
		return "", w.trees.removeByHook(ctx, rec)
	}
	s, err := w.trees.state(ctx, rec)
	if err != nil {
		return "", err
	}
	if s.Locked != "" || !allows(s) {
		return "", &ChangedError{w, s}
	}
	return w.trees.remove(ctx, rec, s)
}

// removeByHook makes the hook that created a worktree remove it.
func (t *Manager) removeByHook(ctx context.Context, rec record) error {
	if t.cfg.BeforeRemove != nil {
		if err := t.cfg.BeforeRemove(ctx, rec.Path); err != nil {
			return err
		}
	}
	if exists(rec.Path) {
		return fmt.Errorf("%s was made by a hook, and no WorktreeRemove hook has removed it: remove it by hand", rec.Path)
	}
	return t.forget(ctx, rec)
}

// remove removes a worktree and its branch, given its state. It first moves the directory
// atomically, so that a killed process leaves either the whole worktree or remains that the
// next process removes.
func (t *Manager) remove(ctx context.Context, rec record, s State) (note string, err error) {
	r, err := t.repository(rec.Root)
	if err != nil {
		return "", err
	}
	if err := r.plainFolder(); err != nil {
		return "", err
	}
	if t.cfg.BeforeRemove != nil {
		if err := t.cfg.BeforeRemove(ctx, rec.Path); err != nil {
			return "", err
		}
	}
	moved := filepath.Join(filepath.Dir(rec.Path), ".removed-"+rec.Name+"-"+strings.ToLower(rand.Text()[:8]))
	err = t.change(ctx, rec.Root, rec.Name, func(now *record) error {
		now.Phase, now.Removal, now.Owner = removing, &removal{Moved: moved, Tip: s.tip}, self()
		rec = *now
		return nil
	})
	if err != nil {
		return "", err
	}
	if err := t.moveAway(rec); err != nil {
		back := t.change(ctx, rec.Root, rec.Name, func(now *record) error {
			now.Phase, now.Removal, now.Owner = ready, nil, owner{}
			return nil
		})
		return "", errors.Join(fmt.Errorf("removing the worktree %s: %w", rec.Name, err), back)
	}
	return t.complete(ctx, r, rec)
}

func (t *Manager) moveAway(rec record) error {
	if t.step != nil {
		if err := t.step("move"); err != nil {
			return err
		}
	}
	if err := os.Rename(rec.Path, rec.Removal.Moved); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// complete removes the remains of a worktree that was moved away.
func (t *Manager) complete(ctx context.Context, r *repository, rec record) (note string, err error) {
	for _, do := range []struct {
		name string
		f    func() error
	}{
		{"unregister", func() error { return r.unregister(ctx, rec) }},
		{"branch", func() error {
			err := r.dropBranch(ctx, rec.Branch, rec.Removal.Tip)
			if kept, ok := errors.AsType[*branchMovedError](err); ok {
				note, err = kept.Error(), nil
			}
			return err
		}},
		{"delete", func() error { return os.RemoveAll(rec.Removal.Moved) }},
		{"forget", func() error { r.tidy(); return t.forget(ctx, rec) }},
	} {
		if t.step != nil {
			if err := t.step(do.name); err != nil {
				return note, err
			}
		}
		if err := do.f(); err != nil {
			return note, fmt.Errorf("removing the worktree %s: %w", rec.Name, err)
		}
	}
	return note, nil
}

// Finish ends an agent's use of a worktree. The worktree is kept if a hook created it, if it
// has any changes or if that cannot be determined. Otherwise it is removed with its branch. The
// note describes where to find a kept worktree.
func (w *Tree) Finish(ctx context.Context) (kept bool, note string, err error) {
	if w.ByHook {
		return true, fmt.Sprintf("The worktree %s was made by a hook and is kept.", w.Path), w.Release(ctx)
	}
	gone := !exists(w.Path)
	note, err = w.removeIf(ctx, State.untouched)
	switch {
	case err == nil && gone && note == "":
		return false, fmt.Sprintf("The worktree %s was removed while the agent worked in it: its changes are lost, and it had committed none.", w.Path), nil
	case err == nil:
		return false, note, nil
	}
	var c *ChangedError
	switch {
	case errors.As(err, &c) && c.State.Gone:
		note, err = fmt.Sprintf("The worktree %s was removed while the agent worked in it: changes that it had not committed are lost; its commits are on branch %s.", w.Path, w.Branch), nil
	case errors.As(err, &c):
		note, err = fmt.Sprintf("The worktree is kept: %s, on branch %s (%s).", w.Path, w.Branch, c.State), nil
	default:
		note = fmt.Sprintf("The worktree %s on branch %s is kept, because checking it for changes failed: %v", w.Path, w.Branch, err)
	}
	if exists(w.Path) || c != nil {
		return true, note, errors.Join(err, w.Release(ctx))
	}
	return false, note, err
}
