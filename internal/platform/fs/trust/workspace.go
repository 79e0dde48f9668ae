// Package trust stores which workspaces the user trusts, which of a workspace's commands they
// have approved, and with which content a settings file in a workspace is the user's own. It
// identifies the workspace of a directory by inspecting names and small files. It never runs
// git, which would obey the repository's configuration.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"adze/internal/platform/fs/fsys"
)

// A Workspace is a directory and the working tree that trust applies to.
type Workspace struct {
	Dir string // directory, with symlinks resolved
	// Root is the trusted directory: the working tree that contains Dir, with symlinks
	// resolved, or Dir itself outside a repository.
	Root       string
	Repository bool
	// Main is the main working tree if Root is a worktree of it and both refer to each other.
	// Trust in Main covers Root.
	Main string
	// Shared is the .git directory that Root shares with other working trees, or the bare
	// repository, if Root is a worktree of it and both refer to each other.
	Shared string
	// Exclude is the repository's untracked ignore file, or "" if no file certainly belongs to
	// this repository.
	Exclude string
}

// Find returns the workspace of a directory. A repository at the user's home directory or above
// it is not the workspace of directories below.
func Find(dir, home string) (Workspace, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Workspace{}, fmt.Errorf("finding the workspace: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return Workspace{}, fmt.Errorf("finding the workspace: %w", err)
	}
	w := Workspace{Dir: real, Root: real}
	for at := real; ; at = filepath.Dir(at) {
		if at != real && (Workspace{Root: at}).Covers(home) {
			return w, nil
		}
		if info, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			w.Root, w.Repository = at, true
			w.inspect(info)
			return w, nil
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return w, fmt.Errorf("finding the workspace: %w", err) // unclear whether a repository begins here
		}
		if isBare(at) {
			w.Root, w.Repository = at, true
			return w, nil
		}
		if at == filepath.Dir(at) {
			return w, nil
		}
	}
}

// isBare reports whether git would treat the directory itself as a repository.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// inspect sets the fields that depend on .git.
func (w *Workspace) inspect(info fs.FileInfo) {
	dotGit := filepath.Join(w.Root, ".git")
	switch {
	case info.IsDir():
		w.Exclude = filepath.Join(dotGit, "info", "exclude")
	case info.Mode().IsRegular():
		common, ok := worktreeOf(dotGit)
		if !ok {
			return
		}
		if w.Shared = common; filepath.Base(common) == ".git" {
			w.Main = filepath.Dir(common)
			w.Exclude = filepath.Join(common, "info", "exclude")
		}
	}
}

// worktreeOf returns the .git directory or bare repository that the file dotGit belongs to.
// Anyone can write a file that names another repository, so that repository must name this file
// in turn: it is registered in its .git/worktrees, which only its owner can write to.
func worktreeOf(dotGit string) (common string, ok bool) {
	gitDir, ok := pointer(dotGit, "gitdir:")
	if !ok {
		return "", false
	}
	worktrees := filepath.Dir(gitDir)
	common = filepath.Dir(worktrees)
	if filepath.Base(worktrees) != "worktrees" {
		return "", false
	}
	if said, ok := pointer(filepath.Join(gitDir, "commondir"), ""); !ok || said != common {
		return "", false
	}
	back, ok := pointer(filepath.Join(gitDir, "gitdir"), "")
	if !ok || back != dotGit {
		return "", false
	}
	info, err := os.Lstat(common)
	return common, err == nil && info.IsDir()
}

// maxPointer limits the size of a file that names another file.
const maxPointer = 4096

// pointer reads a file that contains a path after a prefix, and returns that path with symlinks
// resolved.
func pointer(path, prefix string) (string, bool) {
	text, err := fsys.ReadSmall(path, maxPointer)
	if err != nil {
		return "", false
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	target = strings.TrimSpace(target)
	if !ok || target == "" || strings.ContainsAny(target, "\n\x00") {
		return "", false
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	real, err := filepath.EvalSymlinks(target)
	return real, err == nil
}

// Covers reports whether the workspace is the user's home directory or above it. Such a
// workspace is never trusted beyond a single run.
func (w Workspace) Covers(home string) bool {
	real, err := filepath.EvalSymlinks(home)
	if home == "" || err != nil {
		return false
	}
	rel, err := filepath.Rel(w.Root, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
