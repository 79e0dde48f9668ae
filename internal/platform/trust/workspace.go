// Package trust remembers which workspaces the user trusts, which commands of a workspace they have seen and
// approved, and with which content a settings file in a workspace is their own. It finds out what a directory belongs to by looking at names and small files;
// it never runs git, which would obey the repository. What is left out of an untrusted workspace is
// decided by the packages that would use it.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"adze/internal/platform/fsys"
)

// A Workspace is a directory with what trust in it is about.
type Workspace struct {
	Dir string // the directory, without links
	// Root is what is trusted: the working tree that Dir is in, without links, or Dir itself outside a
	// repository.
	Root       string
	Repository bool
	// Main is the main working tree, if Root is a worktree of it and each names the other. Trust in Main
	// covers Root.
	Main string
	// Shared is the .git directory that Root has in common with other working trees, or the bare repository,
	// if Root is a worktree of it and each names the other.
	Shared string
	// Exclude is the file that keeps names out of git without being tracked, empty if there is none that
	// is certainly this repository's.
	Exclude string
}

// Find returns the workspace of a directory. A repository at the user's home directory or above it is
// not the workspace of what lies below.
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
			return w, fmt.Errorf("finding the workspace: %w", err) // whether a repository begins here is not known
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

// isBare reports whether git would take the directory itself for a repository.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// inspect finds out what .git says about the working tree.
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

// worktreeOf returns the .git directory, or the bare repository, that dotGit, a file, belongs to. Anyone
// can write a file that names another repository, so the other one must name this file: it is registered
// below its .git/worktrees, which only its owner can write to.
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

// maxPointer bounds a file that names another one.
const maxPointer = 4096

// pointer reads a file that names another one, after a prefix, and returns where that is without links.
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

// Covers reports whether the workspace lies at the user's home directory or above it. So much is never
// trusted for longer than a run.
func (w Workspace) Covers(home string) bool {
	real, err := filepath.EvalSymlinks(home)
	if home == "" || err != nil {
		return false
	}
	rel, err := filepath.Rel(w.Root, real)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
