package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/git/gitinfo"
)

// An Entry describes a worktree in a list.
type Entry struct {
	Name, Path, Branch string
	For                Purpose // empty if its creator is unknown
	ByHook             bool
	User               string // process that uses it, or ""
	Used               time.Time
	State              State
	Err                error // reason why its state is unknown, or nil
}

// List returns the worktrees of dir's repository, sorted by name.
func (t *Manager) List(ctx context.Context, dir string) []Entry {
	root := t.rootFor(dir)
	var all []Entry
	for _, rec := range t.records(root) {
		if rec.Phase != ready {
			continue
		}
		e := Entry{Name: rec.Name, Path: rec.Path, Branch: rec.Branch, For: rec.For, ByHook: rec.ByHook, Used: rec.Used}
		if rec.inUse(t) {
			e.User = rec.Owner.String()
		}
		e.State, e.Err = t.state(ctx, rec)
		all = append(all, e)
	}
	folder := filepath.Join(root, filepath.FromSlash(Folder))
	entries, _ := os.ReadDir(folder) // ok: the list is then empty
	for _, f := range entries {
		path := filepath.Join(folder, f.Name())
		known := slices.ContainsFunc(all, func(e Entry) bool { return e.Path == path })
		if known || !f.IsDir() || CheckName(f.Name()) != nil || !exists(filepath.Join(path, ".git")) {
			continue
		}
		if rec, err := t.recall(root, f.Name()); err == nil && rec.Phase != ready {
			continue
		}
		branch, _ := gitinfo.Branch(path)
		all = append(all, Entry{Name: f.Name(), Path: path, Branch: branch, Err: errors.New("adze has no record of it; git worktree remove removes it")})
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// staleAge is how long an unused agent worktree is kept.
const staleAge = 30 * 24 * time.Hour

// Sweep cleans up dir's repository. It removes the remains of processes that were killed while
// creating or removing a worktree, and agent worktrees in which nothing would be lost:
// immediately if their commits are merged, otherwise if they have not been used for 30 days. It
// returns the names of removed worktrees.
func (t *Manager) Sweep(ctx context.Context, dir string) (removed []string, err error) {
	if known, err := os.ReadDir(t.cfg.Records); err != nil || len(known) == 0 {
		return nil, nil // no worktree was ever made
	}
	recs := slices.DeleteFunc(t.records(t.rootFor(dir)), func(r record) bool { return r.ByHook })
	if len(recs) == 0 {
		return nil, nil
	}
	r, err := t.repository(recs[0].Root)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, rec := range recs {
		gone, err := t.sweep(ctx, r, rec)
		if err != nil {
			errs = append(errs, fmt.Errorf("the worktree %s: %w", rec.Name, err))
		}
		if gone {
			removed = append(removed, rec.Name)
		}
	}
	return removed, errors.Join(errs...)
}

func (t *Manager) sweep(ctx context.Context, r *repository, rec record) (gone bool, err error) {
	switch {
	case rec.inUse(t):
		return false, nil
	case rec.Phase != ready:
		return false, t.repair(ctx, r, rec.Name)
	case rec.For != Agent:
		return false, nil
	}
	if lost, err := r.unpushed(ctx, rec); err != nil || lost {
		return false, err
	}
	s, err := t.state(ctx, rec)
	if err != nil || !s.Clean() || s.Locked != "" || s.CommitCount == 0 && t.now().Sub(rec.Used) < staleAge {
		return false, err
	}
	_, err = t.remove(context.WithoutCancel(ctx), rec, s) // don't leave it half removed if the session ends
	return err == nil, err
}

// unpushed reports whether the worktree's branch has commits that no other branch has.
func (r *repository) unpushed(ctx context.Context, rec record) (bool, error) {
	ref := "refs/heads/" + rec.Branch
	if tip, err := r.tip(ctx, rec.Branch); err != nil || tip == "" {
		return false, err
	}
	out, err := r.git(ctx, r.root, "rev-list", "--max-count=1", ref, "--not", "--exclude="+rec.Branch, "--branches", "--tags", "--remotes")
	return strings.TrimSpace(out) != "", err
}

// repair completes or undoes the work of a killed process: an incomplete worktree is undone, a
// worktree that was moved away is removed, and a worktree that was about to be moved is kept.
func (t *Manager) repair(ctx context.Context, r *repository, name string) error {
	rec, err := t.recall(r.root, name)
	switch {
	case errors.Is(err, ErrNone) || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case rec.inUse(t):
		return nil
	case rec.Phase == making:
		return t.undo(ctx, r, rec)
	case rec.Phase == removing && exists(rec.Path):
		return t.change(ctx, rec.Root, rec.Name, func(now *record) error {
			now.Phase, now.Removal, now.Owner = ready, nil, owner{}
			return nil
		})
	case rec.Phase == removing:
		_, err := t.complete(ctx, r, rec)
		return err
	}
	return nil
}
