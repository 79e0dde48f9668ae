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

// readOnlyEnv returns the variables of env that a read-only command gets: listed names, and
// names from the user's own settings. PATH comes from [searchPath.fixed]. A project's variables
// are excluded because the command runs without a prompt.
func (c *Config) readOnlyEnv(env, roots []string) []string {
	var kept []string
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case slices.Contains(c.Project, entry) && !slices.Contains(env[i+1:], entry):
		case name == "PATH":
			dirs := c.path.fixed(value, roots)
			if c.jailed != nil && c.jailed() == nil {
				dirs = c.path.given() // the jail executes the files found, regardless of symlinks
			}
			kept = append(kept, "PATH="+strings.Join(dirs, string(os.PathListSeparator)))
		case readOnlyName(name), slices.Contains(c.Keep, name) && !strings.HasPrefix(name, "GIT_"):
			kept = append(kept, entry)
		}
	}
	// Do not download and run a newer Go version that a project requests.
	return append(kept, "TERM=dumb", "PAGER=cat", "GOTOOLCHAIN=local")
}

// readOnlyName reports whether a variable is harmless: it identifies the user and their
// directories, the location of git's configuration, the size of the terminal, or the locale.
func readOnlyName(name string) bool {
	switch name {
	case "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "COLUMNS", "LINES", "TIME_STYLE", "BLOCK_SIZE", "BLOCKSIZE":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// A searchPath caches the last PATH of read-only commands. A nil searchPath caches nothing.
type searchPath struct {
	mu      sync.Mutex
	value   string
	roots   []string
	all     []string // roots, as given and with symlinks resolved
	entries []pathEntry
}

// A pathEntry is a directory of a search path.
type pathEntry struct {
	given string
	path  string      // resolved path if used; empty if always unusable
	info  os.FileInfo // nil if missing
	used  bool
}

// fixed returns the directories of a PATH that cannot contain a project's programs: absolute,
// outside roots, and not world-writable. Symlinks are resolved, so that they stay the
// directories that were checked.
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

// given returns the directories of the last call of fixed, as named in PATH.
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

// ofProject reports whether any of files, which are resolved, is in any of roots.
func (s *searchPath) ofProject(files, roots []string) bool {
	all := s.forms(roots)
	return slices.ContainsFunc(files, func(file string) bool { return inProject(file, all) })
}

// forms returns roots, as given and with symlinks resolved.
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

// current reports whether the directories are unchanged since they were checked.
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
	given, _ := os.Lstat(entry) // ok: then it is missing
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

// inProject reports whether a path is in any of roots, or in /proc, where it differs for each
// process.
func inProject(path string, roots []string) bool {
	return within(path, "/proc") || slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
}

// everyoneWrites reports whether every user could put a program into dir, or replace dir.
func everyoneWrites(dir string) bool {
	if runtime.GOOS == "windows" { // the mode is meaningless there
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

// within reports whether path is root or inside it.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// sameFile reports whether two names refer to the same file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return a == b || errX == nil && errY == nil && os.SameFile(x, y)
}

// lookPath finds a program by its base name.
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
