package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxListed limits the number of changes listed.
const maxListed = 20

// A State describes the changes that would be lost if a worktree were removed.
type State struct {
	// Gone means that the directory no longer exists. Commits on its branch are still listed.
	Gone bool
	// Files lists the uncommitted changes in the short format of git status. Commits lists the
	// commits since the worktree was created, one line each. Both lists are truncated.
	// CommitCount is at most 1000.
	Files, Commits []string
	FileCount      int
	CommitCount    int
	// Locked is the reason given to git worktree lock, or "" if the worktree is not locked.
	Locked string
	// Merged means that all these commits are also on a branch other than worktree branches.
	Merged bool

	tip string // the branch's commit
}

// Clean reports whether nothing would be lost.
func (s State) Clean() bool { return s.FileCount == 0 && (s.CommitCount == 0 || s.Merged) }

// untouched reports whether the worktree has no changes at all.
func (s State) untouched() bool { return s.FileCount == 0 && s.CommitCount == 0 }

// String summarizes the changes that would be lost.
func (s State) String() string {
	var parts []string
	if s.Gone {
		parts = append(parts, "the directory is gone")
	}
	if n := s.FileCount; n > 0 {
		parts = append(parts, plural(n, "uncommitted change"))
	}
	if n := s.CommitCount; n > 0 {
		text := plural(n, "new commit")
		if s.Merged {
			text = "merged, " + text
		}
		parts = append(parts, text)
	}
	if s.Locked != "" {
		parts = append(parts, "locked: "+s.Locked)
	}
	if len(parts) == 0 {
		return "unchanged"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// State returns the changes that would be lost with the worktree. If it returns an error, the
// worktree should be kept.
func (w *Tree) State(ctx context.Context) (State, error) {
	rec, err := w.trees.recall(w.Root, w.Name)
	if err != nil {
		return State{}, err
	}
	return w.trees.state(ctx, rec)
}

func (t *Manager) state(ctx context.Context, rec record) (State, error) {
	if rec.ByHook {
		_, err := os.Stat(rec.Path)
		return State{Gone: errors.Is(err, os.ErrNotExist)}, nil
	}
	r, err := t.repository(rec.Root)
	if err != nil {
		return State{}, err
	}
	var s State
	if s.tip, err = r.tip(ctx, rec.Branch); err != nil {
		return s, err
	}
	seen := []string{}
	if s.tip != "" {
		seen = append(seen, s.tip)
	}
	switch _, err := os.Lstat(rec.Path); {
	case errors.Is(err, os.ErrNotExist):
		s.Gone = true
	case err != nil:
		return s, err
	default:
		heads, err := s.look(ctx, t, rec)
		if err != nil {
			return s, err
		}
		seen = append(seen, heads...)
	}
	return s, s.count(ctx, r, rec, seen)
}

// look inspects a worktree's directory and returns the commits that were checked out in it.
func (s *State) look(ctx context.Context, t *Manager, rec record) (heads []string, err error) {
	r, err := t.repository(rec.Path)
	if err != nil {
		return nil, err
	}
	if r.top != rec.Path || r.common != rec.Common {
		return nil, fmt.Errorf("%s is not the worktree any more that it was", rec.Path)
	}
	if reason, err := os.ReadFile(filepath.Join(r.dir, "locked")); err == nil {
		if s.Locked = plain(string(reason)); s.Locked == "" {
			s.Locked = "no reason given"
		}
	}
	out, err := r.git(ctx, r.top, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if len(entry) > 3 && !rec.brought(entry) {
			s.add(entry)
		}
	}
	if modules, err := os.ReadDir(filepath.Join(r.dir, "modules")); err == nil && len(modules) > 0 {
		s.add("   submodules that were set up in the worktree")
	}
	out, err = r.git(ctx, r.top, "log", "--walk-reflogs", "--format=%H", "HEAD")
	if err != nil {
		return nil, err
	}
	return strings.Fields(out), nil
}

func (s *State) add(entry string) {
	if s.FileCount++; s.FileCount <= maxListed {
		s.Files = append(s.Files, plainPath(entry))
	}
}

// plainPath escapes control characters in an entry of git status.
func plainPath(entry string) string {
	state, name := entry[:3], entry[3:]
	if quoted := fmt.Sprintf("%q", name); quoted != `"`+name+`"` {
		name = quoted
	}
	return state + name
}

// brought reports whether an entry of git status is an unchanged file that was added to the
// worktree.
func (r *record) brought(entry string) bool {
	name, untracked := strings.CutPrefix(entry, "?? ")
	p, ok := r.Brought[name]
	return untracked && ok && p.holds(filepath.Join(r.Path, filepath.FromSlash(name)))
}

// count finds the commits reachable from seen that are newer than the worktree.
func (s *State) count(ctx context.Context, r *repository, rec record, seen []string) error {
	if len(seen) == 0 {
		return nil
	}
	list := func(limit string, more ...string) (string, error) {
		input := strings.Join(seen, "\n") + "\n^" + rec.Base + "\n"
		args := []string{"log", "--stdin", "--ignore-missing", "--no-decorate", "--no-show-signature", "--format=%h %s", "--max-count=" + limit}
		return r.ask(ctx, r.root, askTime, []byte(input), append(args, more...)...)
	}
	out, err := list("1000")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if s.CommitCount++; s.CommitCount <= maxListed {
			s.Commits = append(s.Commits, plain(line))
		}
	}
	if s.CommitCount > 0 {
		out, err = list("1", "--not", "--exclude="+branchOf("*"), "--branches", "--remotes", "--tags")
		s.Merged = err == nil && out == ""
	}
	return err
}
