package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"adze/internal/platform/fs/trust"
)

// Folder is the directory of worktrees in a repository's main working tree.
const Folder = ".adze/worktrees"

// undoTime limits how long undoing a failure may take, even if the caller no longer waits.
const undoTime = time.Minute

// make creates a worktree with git.
func (t *Manager) make(ctx context.Context, r *repository, o Options) (*Tree, error) {
	if t.cfg.Refuse != nil {
		if err := t.cfg.Refuse(r.root); err != nil {
			return nil, err
		}
	}
	if err := t.repair(ctx, r, o.Name); err != nil {
		return nil, err
	}
	rec := record{Name: o.Name, Root: r.root, Path: filepath.Join(r.root, filepath.FromSlash(Folder), o.Name), Common: r.common,
		Branch: branchOf(o.Name), For: o.For, Phase: making, Brought: map[string]fingerprint{}}
	if err := r.vacant(ctx, &rec); err != nil {
		return nil, err
	}
	links, err := within(r.root, o.Links)
	if err != nil {
		return nil, fmt.Errorf("worktree.symlinkDirectories: %w", err)
	}
	sparse, err := within(r.root, o.Sparse)
	if err != nil {
		return nil, fmt.Errorf("worktree.sparsePaths: %w", err)
	}
	if err := t.begin(ctx, &rec); err != nil {
		return nil, err
	}
	c := &contents{repository: r, rec: &rec, links: links, sparse: sparse, copies: o.Copies}
	if err := c.fill(ctx); err != nil {
		undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("making the worktree %s: %w", o.Name, err), t.undo(undoing, r, rec))
	}
	tree := t.tree(rec)
	tree.Notes = c.notes
	return tree, nil
}

// vacant checks that the worktree can be created: its start commit exists, and its path and
// branch are free.
func (r *repository) vacant(ctx context.Context, rec *record) error {
	base, err := r.git(ctx, r.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	var no *gitError
	switch {
	case errors.As(err, &no):
		return errors.New("the repository has no commit yet, and a worktree starts from one: commit something first")
	case err != nil:
		return err
	}
	rec.Base = strings.TrimSpace(base)
	if err := r.plainFolder(); err != nil {
		return err
	}
	if exists(rec.Path) {
		return fmt.Errorf("%s exists already: choose another name, or remove it", rec.Path)
	}
	_, err = r.git(ctx, r.top, "show-ref", "--verify", "--quiet", "refs/heads/"+rec.Branch)
	switch {
	case err == nil:
		return fmt.Errorf("the repository has a branch %s already: choose another name for the worktree, or delete the branch", rec.Branch)
	case !errors.As(err, &no):
		return err
	}
	return nil
}

// plainFolder checks that all components of the worktree folder are directories, because a
// symlink in a repository could lead anywhere.
func (r *repository) plainFolder() error {
	path := r.root
	for part := range strings.SplitSeq(Folder, "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is not a directory, and worktrees are kept there: move it away", path)
		}
	}
	return nil
}

// fill creates the worktree described by its record, and completes the record.
func (c *contents) fill(ctx context.Context) error {
	if err := c.place(); err != nil {
		return err
	}
	err := c.exclusively(ctx, func() error {
		_, err := c.git(ctx, c.top, "worktree", "add", "--quiet", "--no-track", "--no-checkout", "-b", c.rec.Branch, "--", c.rec.Path, c.rec.Base)
		return err
	})
	if err != nil {
		return err
	}
	c.t.cfg.Judge.Made(c.rec.Path)
	if err := c.checkOut(ctx); err != nil {
		return err
	}
	if err := c.addExtras(ctx); err != nil {
		return err
	}
	return c.t.change(ctx, c.rec.Root, c.rec.Name, func(r *record) error {
		if c.t.step != nil {
			if err := c.t.step("complete"); err != nil {
				return err
			}
		}
		r.Phase, r.Brought = ready, c.rec.Brought
		*c.rec = *r
		return nil
	})
}

// place creates the worktree's directory, which claims it for this process, and makes git
// ignore it.
func (c *contents) place() error {
	if c.t.step != nil {
		if err := c.t.step("place"); err != nil {
			return err
		}
	}
	folder := filepath.Dir(c.rec.Path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := c.plainFolder(); err != nil {
		return err
	}
	if err := c.exclude(folder); err != nil {
		return err
	}
	return os.Mkdir(c.rec.Path, 0o755)
}

// exclude makes git ignore a path of the main working tree, using the user's own exclude file.
func (c *contents) exclude(path string) error {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	w := trust.Workspace{Root: c.root, Exclude: filepath.Join(c.common, "info", "exclude")}
	_, err := w.Hide(path)
	return err
}

// undo removes an incomplete worktree, which contains nothing of the user's. If something
// cannot be removed, the record is kept, and the next process tries again.
func (t *Manager) undo(ctx context.Context, r *repository, rec record) error {
	if err := r.plainFolder(); err != nil {
		return err
	}
	err := errors.Join(r.unregister(ctx, rec), removeAll(ctx, rec.Path), r.dropBranch(ctx, rec.Branch, rec.Base))
	if err != nil {
		return fmt.Errorf("undoing that: %w", err)
	}
	r.tidy()
	return t.forget(ctx, rec)
}

// removeAll removes a directory, retrying because a program started by the killed process may
// still be writing to it.
func removeAll(ctx context.Context, path string) error {
	const tries, pause = 20, 50 * time.Millisecond
	for try := 1; ; try++ {
		err := os.RemoveAll(path)
		if err == nil && !exists(path) {
			return nil
		}
		if try == tries {
			return errors.Join(err, fmt.Errorf("%s is still written to", path))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// tidy removes the worktree folder if it is empty.
func (r *repository) tidy() {
	folder := filepath.Join(r.root, filepath.FromSlash(Folder))
	if os.Remove(folder) == nil {
		os.Remove(filepath.Dir(folder)) // ok: it may not be empty
	}
}

// unregister removes git's entry for a worktree. The entry contains the worktree's path or, if
// git did not get that far, nothing.
func (r *repository) unregister(ctx context.Context, rec record) error {
	return r.exclusively(ctx, func() error { return r.removeEntry(rec) })
}

// exclusively calls f while no other adze process changes git's worktree entries. When git creates a
// worktree, it reads the other entries and fails if one is incomplete.
func (r *repository) exclusively(ctx context.Context, f func() error) error {
	return r.t.locked(ctx, r.root, ".all", func(string) error { return f() })
}

func (r *repository) removeEntry(rec record) error {
	entries, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(r.common, "worktrees", e.Name())
		if e.IsDir() && belongs(dir, rec) {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	if len(entries) > 0 {
		os.Remove(filepath.Join(r.common, "worktrees")) // ok: other entries may remain
	}
	return nil
}

// belongs reports whether a worktree entry belongs to a record.
func belongs(entry string, rec record) bool {
	data, err := os.ReadFile(filepath.Join(entry, "gitdir"))
	back := strings.TrimRight(string(data), "\r\n")
	if err != nil || back == "" {
		return rec.Phase == making && filepath.Base(entry) == rec.Name
	}
	if !filepath.IsAbs(back) {
		back = filepath.Join(entry, back)
	}
	return filepath.Clean(filepath.FromSlash(back)) == filepath.Join(rec.Path, ".git")
}

// dropBranch deletes a branch if it is at the expected commit. A missing branch is not an
// error.
func (r *repository) dropBranch(ctx context.Context, branch, at string) error {
	ref := "refs/heads/" + branch
	now, err := r.tip(ctx, branch)
	if err != nil || now == "" {
		return err
	}
	if now != at {
		return &branchMovedError{branch}
	}
	_, err = r.git(ctx, r.root, "update-ref", "-d", ref, at)
	return err
}

// A branchMovedError error means that a branch has commits that the caller does not know of.
type branchMovedError struct{ branch string }

func (m *branchMovedError) Error() string {
	return fmt.Sprintf("the branch %s has other commits, and was kept", m.branch)
}

// tip returns a branch's commit, or "" if the branch does not exist.
func (r *repository) tip(ctx context.Context, branch string) (string, error) {
	out, err := r.git(ctx, r.root, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	var no *gitError
	if errors.As(err, &no) {
		return "", nil
	}
	return strings.TrimSpace(out), err
}
