package bash

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// readOnlyEnv returns what a read-only command gets to know of env: what is listed, and the names that the user's own
// settings set. PATH is that of [searchPath.fixed]. What a project sets is not among it: the command runs unasked.
func (c *Config) readOnlyEnv(env, roots []string) []string {
	var kept []string
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case slices.Contains(c.Project, entry) && !slices.Contains(env[i+1:], entry):
		case name == "PATH":
			dirs := c.path.fixed(value, roots)
			if c.jailed != nil && c.jailed() == nil {
				dirs = c.path.given() // the jail executes the files that were found, whatever a link leads to
			}
			kept = append(kept, "PATH="+strings.Join(dirs, string(os.PathListSeparator)))
		case readOnlyName(name), slices.Contains(c.Keep, name) && !strings.HasPrefix(name, "GIT_"):
			kept = append(kept, entry)
		}
	}
	// A newer version of go that a project asks for would be fetched and run.
	return append(kept, "TERM=dumb", "PAGER=cat", "GOTOOLCHAIN=local")
}

// readOnlyName reports whether a variable says no more than where the user is at home, where git's configuration is,
// and how to write dates, numbers and letters.
func readOnlyName(name string) bool {
	switch name {
	case "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "COLUMNS", "LINES", "TIME_STYLE", "BLOCK_SIZE", "BLOCKSIZE":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// A searchPath is the last PATH that read-only commands were given. A nil one keeps nothing.
type searchPath struct {
	mu      sync.Mutex
	value   string
	roots   []string
	all     []string // roots, as given and without links
	entries []pathEntry
}

// A pathEntry is a directory of a search path.
type pathEntry struct {
	given string
	path  string      // without links if it is used; empty if it cannot be, whatever is there
	info  os.FileInfo // nil if it is not there
	used  bool
}

// fixed returns the directories of a PATH in which no program of a project is found, without links, so that
// they stay the ones that were looked at: absolute ones outside roots, in which not everyone can write.
func (s *searchPath) fixed(value string, roots []string) []string {
	if s == nil {
		s = new(searchPath)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value != value || !slices.Equal(s.roots, roots) || !s.current() {
		s.value, s.roots, s.all, s.entries = value, slices.Clone(roots), bothForms(roots), nil
		for _, entry := range filepath.SplitList(value) {
			s.entries = append(s.entries, newPathEntry(entry, s.all))
		}
	}
	var dirs []string
	for _, e := range s.entries {
		if e.used {
			dirs = append(dirs, e.path)
		}
	}
	return dirs
}

// given returns the directories that the last call of fixed did, by their names in PATH.
func (s *searchPath) given() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var dirs []string
	for _, e := range s.entries {
		if e.used {
			dirs = append(dirs, e.given)
		}
	}
	return dirs
}

// ofProject reports whether one of files, which are without links, lies in one of roots.
func (s *searchPath) ofProject(files, roots []string) bool {
	all := s.forms(roots)
	return slices.ContainsFunc(files, func(file string) bool { return inProject(file, all) })
}

// forms returns roots, as given and without links.
func (s *searchPath) forms(roots []string) []string {
	if s == nil {
		return bothForms(roots)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(s.roots, roots) {
		return s.all
	}
	return bothForms(roots)
}

func bothForms(dirs []string) []string {
	all := slices.Clone(dirs)
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			all = append(all, real)
		}
	}
	return all
}

// current reports whether the directories are still those that were looked at.
func (s *searchPath) current() bool {
	for _, e := range s.entries {
		if e.path == "" {
			continue
		}
		info, err := os.Lstat(e.path)
		if err != nil && e.info == nil {
			continue
		}
		if err != nil || e.info == nil || !os.SameFile(info, e.info) || info.Mode() != e.info.Mode() {
			return false
		}
	}
	return true
}

func newPathEntry(entry string, roots []string) pathEntry {
	if !filepath.IsAbs(entry) || inProject(entry, roots) {
		return pathEntry{}
	}
	given, _ := os.Lstat(entry) // ok: then it is not there
	real, err := filepath.EvalSymlinks(entry)
	if err != nil {
		return pathEntry{path: entry, info: given}
	}
	info, err := os.Lstat(real)
	if err != nil || !info.IsDir() || inProject(real, roots) || everyoneWrites(real) {
		return pathEntry{path: entry, info: given}
	}
	return pathEntry{given: entry, path: real, info: info, used: true}
}

// inProject reports whether a path lies in one of roots, or in /proc, where it leads elsewhere for each
// process.
func inProject(path string, roots []string) bool {
	return within(path, "/proc") || slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
}

// everyoneWrites reports whether every user could put a program into dir, or put another directory in its
// place.
func everyoneWrites(dir string) bool {
	if runtime.GOOS == "windows" { // the mode does not say
		return false
	}
	const everyone = 0o002
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || info.Mode().Perm()&everyone != 0 && (at == dir || info.Mode()&os.ModeSticky == 0) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// within reports whether path is root or lies in it.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// sameFile reports whether two names lead to the same file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return a == b || errX == nil && errY == nil && os.SameFile(x, y)
}

// lookPath finds a program by its bare name.
func lookPath(name string, env []string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		return "", exec.ErrNotFound
	}
	for _, dir := range filepath.SplitList(lookup(env)("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}
