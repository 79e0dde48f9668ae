package ignore

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A repo holds a repository's settings and excludes, in addition to the ignore files in its
// tree.
type repo struct {
	base    int   // length of its top directory's path, including the slash
	exclude *File // info/exclude
	global  *File // core.excludesFile
	fold    bool  // core.ignoreCase
}

// openRepo returns the repository whose top is dir, or nil if its .git does not belong to a
// repository: git then treats dir as part of the enclosing repository. Without an enclosing
// repository, if git would fail because the target of a .git file is missing, the ignore files
// still count.
func (l *Loader) openRepo(dir string, base int, around *repo) *repo {
	gitDir := findGitDir(filepath.FromSlash(dir))
	if gitDir == "" || around != nil && !isGitDir(gitDir) {
		return nil
	}
	common := commonDir(gitDir)
	c := l.readConfig(gitDir, common)
	r := &repo{base: base, fold: c.ignoreCase}
	r.exclude = load(openAny, filepath.Join(common, "info", "exclude"), r.fold)
	if path, ok := l.excludesPath(c, dir); ok {
		r.global = l.loadGlobal(excludeFile{path, r.fold})
	}
	return r
}

// findGitDir returns the git directory of dir: its .git, or its target in worktrees and
// submodules. It returns "" if .git is a directory for something else.
func findGitDir(dir string) string {
	path := filepath.Join(dir, ".git")
	if isGitDir(path) {
		return path
	}
	target, ok := strings.CutPrefix(readLine(path), "gitdir: ")
	switch {
	case !ok:
		return ""
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(dir, target)
}

// isGitDir reports whether path contains a repository or a worktree's git directory.
func isGitDir(path string) bool {
	if _, err := os.Lstat(filepath.Join(path, "HEAD")); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(commonDir(path), "objects"))
	return err == nil
}

// commonDir returns the directory that a worktree shares with the others.
func commonDir(gitDir string) string {
	common := readLine(filepath.Join(gitDir, "commondir"))
	switch {
	case common == "":
		return gitDir
	case filepath.IsAbs(common):
		return common
	}
	return filepath.Join(gitDir, common)
}

// readLine returns the content of a small file without the trailing line break, or "".
func readLine(path string) string {
	r, err := openAny(path)
	if err != nil {
		return ""
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, 1<<16))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}

// openAny opens a regular file or a link to one.
func openAny(path string) (io.ReadCloser, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return os.Open(path)
}

// excludesPath returns the user's excludes file. A relative path is relative to the top of the
// repository, and an empty setting means none.
func (l *Loader) excludesPath(c config, top string) (string, bool) {
	switch {
	case c.excludesFile == nil:
		dir := l.configHome()
		return filepath.Join(dir, "git", "ignore"), dir != ""
	case *c.excludesFile == "":
		return "", false
	case filepath.IsAbs(*c.excludesFile):
		return *c.excludesFile, true
	}
	return filepath.Join(filepath.FromSlash(top), *c.excludesFile), true
}

// loadGlobal reads a file that many repositories may share.
func (l *Loader) loadGlobal(key excludeFile) *File {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.excludes[key]
	if !ok {
		f = load(openAny, key.path, key.fold)
		l.excludes[key] = f
	}
	return f
}
