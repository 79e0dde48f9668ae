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

	"adze/internal/platform/trust"
)

// Folder is where worktrees are, in the main copy of a repository.
const Folder = ".adze/worktrees"

// undoTime is how long it may take to undo what a failure left, also for a caller that does not wait any more.
const undoTime = time.Minute

// make makes a worktree with git.
func (t *Trees) make(ctx context.Context, r *repository, o Options) (*Tree, error) {
	if err := t.repair(ctx, r, o.Name); err != nil {
		return nil, err
	}
	rec := record{Name: o.Name, Root: r.root, Path: filepath.Join(r.root, filepath.FromSlash(Folder), o.Name), Common: r.common,
		Branch: branchOf(o.Name), For: o.For, Phase: making, Brought: map[string]imprint{}}
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

// vacant checks that the worktree can be made: where it starts from, and that its place and its branch are free.
func (r *repository) vacant(ctx context.Context, rec *record) error {
	base, err := r.git(ctx, r.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	var no *refusal
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

// plainFolder checks that what leads to the folder of worktrees are directories: a link in a repository could lead
// anywhere.
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

// fill makes the worktree that its record announces, and completes the record.
func (c *contents) fill(ctx context.Context) error {
	if err := c.place(); err != nil {
		return err
	}
	err := c.alone(ctx, func() error {
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
	if err := c.bring(ctx); err != nil {
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

// place makes the directory of the worktree, which no other process then has, and keeps it out of git.
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

// exclude keeps a path of the main copy out of git, by the file that is the user's own.
func (c *contents) exclude(path string) error {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	w := trust.Workspace{Root: c.root, Exclude: filepath.Join(c.common, "info", "exclude")}
	_, err := w.Hide(path)
	return err
}

// undo removes all of a worktree that was not made to the end: nothing in it is of the user. If something cannot be
// removed, its record stays, and the next process tries again.
func (t *Trees) undo(ctx context.Context, r *repository, rec record) error {
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

// removeAll removes a directory for good: a program of the process that was killed may still write to it.
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

// tidy removes the folder of worktrees when nothing is in it.
func (r *repository) tidy() {
	folder := filepath.Join(r.root, filepath.FromSlash(Folder))
	if os.Remove(folder) == nil {
		os.Remove(filepath.Dir(folder)) // ok: it holds something
	}
}

// unregister removes what git knows of a worktree: its entry in the repository, which names the path of the worktree
// or, if git did not come that far, nothing.
func (r *repository) unregister(ctx context.Context, rec record) error {
	return r.alone(ctx, func() error { return r.removeEntry(rec) })
}

// alone calls f while no other process of ours changes what git knows of all worktrees. Git reads the entries of others
// when it makes one, and fails on those that are half made or half removed.
func (r *repository) alone(ctx context.Context, f func() error) error {
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
		os.Remove(filepath.Join(r.common, "worktrees")) // ok: there are others
	}
	return nil
}

// belongs reports whether an entry for a worktree is that of a record.
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

// dropBranch deletes a branch if it is where it is expected to be. One that is not there is no error.
func (r *repository) dropBranch(ctx context.Context, branch, at string) error {
	ref := "refs/heads/" + branch
	now, err := r.tip(ctx, branch)
	if err != nil || now == "" {
		return err
	}
	if now != at {
		return &movedOn{branch}
	}
	_, err = r.git(ctx, r.root, "update-ref", "-d", ref, at)
	return err
}

// A movedOn branch has commits that the caller does not know of.
type movedOn struct{ branch string }

func (m *movedOn) Error() string {
	return fmt.Sprintf("the branch %s has other commits, and was kept", m.branch)
}

// tip returns the commit of a branch, or "" if there is no such branch.
func (r *repository) tip(ctx context.Context, branch string) (string, error) {
	out, err := r.git(ctx, r.root, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	var no *refusal
	if errors.As(err, &no) {
		return "", nil
	}
	return strings.TrimSpace(out), err
}
