package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Dirs are the directories of adze's own files. They are one directory unless the XDG base
// directories are used.
type Dirs struct {
	// Config holds the files that the user writes: settings, instructions, skills, agents and the like.
	Config string
	// Home is the state home: conversations, credentials, memories, trust and the rest.
	Home string
	// Cache holds files that can be rebuilt.
	Cache string
	// Reason explains the choice.
	Reason string

	others []string // directories that another version, or another environment, would use
}

// FindDirs returns the directories: ADZE_HOME, or ~/.adze if it exists, or else the XDG base
// directories. On macOS and Windows these are only used if their variables are set. ADZE_XDG
// selects them even if ~/.adze exists.
func FindDirs(getenv func(string) string) (Dirs, error) {
	return findDirs(getenv, runtime.GOOS, existed)
}

func findDirs(getenv func(string) string, system string, exists func(string) bool) (Dirs, error) {
	home, dir := UserHome(getenv), getenv("ADZE_HOME")
	if dir != "" {
		if rest, ok := strings.CutPrefix(dir, "~"); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
			dir = home + rest
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return Dirs{}, fmt.Errorf("finding ADZE_HOME %s: %w; set it to an absolute path", dir, err)
		}
		return single(abs, "ADZE_HOME is set"), nil
	}
	xdg, set := xdgDirs(getenv, home)
	if home == "" {
		if xdg.Config == "" || xdg.Home == "" {
			return Dirs{}, errors.New("no home directory is known: set ADZE_HOME to a folder for adze's files")
		}
		return xdg, nil
	}
	dot := filepath.Join(home, ".adze")
	one := func(reason string) (Dirs, error) {
		d := single(dot, reason)
		d.others = []string{xdg.Config, xdg.Home}
		return d, nil
	}
	xdg.others = []string{dot}
	if wanted, err := strconv.ParseBool(getenv("ADZE_XDG")); err == nil && wanted {
		xdg.Reason = "ADZE_XDG is set"
		return xdg, nil
	}
	switch {
	case exists(dot):
		return one(dot + " exists")
	case set:
		xdg.Reason = "the XDG variables are set, and there is no " + dot
		return xdg, nil
	case system == "darwin" || system == "windows":
		return one(dot + " is the default on this system")
	}
	xdg.Reason = "the default, since there is no " + dot
	return xdg, nil
}

// single returns the layout with everything in one directory.
func single(dir, reason string) Dirs { return Dirs{Config: dir, Home: dir, Cache: dir, Reason: reason} }

// xdgDirs returns the XDG layout, and whether variables determine where configuration or state
// are. As the XDG specification demands, relative values are ignored.
func xdgDirs(getenv func(string) string, home string) (d Dirs, set bool) {
	find := func(name string, otherwise ...string) (string, bool) {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "adze"), true
		}
		if home == "" {
			return "", false
		}
		return filepath.Join(append([]string{home}, otherwise...)...), false
	}
	config, one := find("XDG_CONFIG_HOME", ".config", "adze")
	state, two := find("XDG_STATE_HOME", ".local", "state", "adze")
	cache, _ := find("XDG_CACHE_HOME", ".cache", "adze")
	if cache == "" {
		cache = state
	}
	return Dirs{Config: config, Home: state, Cache: cache, Reason: "the XDG variables are set"}, one || two
}

var (
	looked  = map[string]bool{} // results of existed
	lookedM sync.Mutex
)

// existed reports whether path existed when the process first asked, so that its directories
// stay the same. If that cannot be determined, it did.
func existed(path string) bool {
	lookedM.Lock()
	defer lookedM.Unlock()
	known, ok := looked[path]
	if !ok {
		_, err := os.Lstat(path)
		known = !errors.Is(err, fs.ErrNotExist)
		looked[path] = known
	}
	return known
}

// All returns the directories without repetition.
func (d Dirs) All() []string {
	all := slices.DeleteFunc([]string{d.Config, d.Home, d.Cache}, func(dir string) bool { return dir == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// Split reports whether configuration and state are in different directories.
func (d Dirs) Split() bool { return d.Config != d.Home }

// Protected returns the directories that programs must not change: All, and further ones
// that adze would use from its next start, or another version uses.
func (d Dirs) Protected() []string { return append(d.All(), d.others...) }

// Unused returns the directories of adze's that exist but are not used.
func (d Dirs) Unused() []string {
	return slices.DeleteFunc(slices.Clone(d.others), func(dir string) bool {
		_, err := os.Lstat(dir)
		return err != nil || slices.ContainsFunc(d.All(), func(used string) bool { return SameFile(dir, used) })
	})
}

// Notice tells the user that there are XDG directories which are not used because of ~/.adze. It
// returns "" otherwise.
func (d Dirs) Notice() string {
	unused := d.Unused()
	if d.Split() || len(unused) == 0 {
		return ""
	}
	return fmt.Sprintf("settings and conversations in %s are not used, because %s: merge the directories and remove one, or set ADZE_XDG=1 to use the others",
		strings.Join(unused, " and "), d.Reason)
}

// In returns adze's directory in a project: .adze, or the configuration directory for a project
// that is the home directory, where .adze would be taken for everything.
func (d Dirs) In(root string) string {
	folder := filepath.Join(root, ".adze")
	for _, dot := range d.others {
		if filepath.Base(dot) == ".adze" && (dot == folder || SameFile(root, filepath.Dir(dot))) {
			return d.Config
		}
	}
	return folder
}

// SameFile reports whether two paths lead to the same existing file, or are equal.
func SameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if a == b {
		return true
	}
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// Environ changes an environment so that a child process uses the same directories.
func (d Dirs) Environ(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "ADZE_HOME=") || strings.HasPrefix(v, "ADZE_XDG=")
	})
	if d.Split() {
		return append(env, "ADZE_XDG=1")
	}
	return append(env, "ADZE_HOME="+d.Home)
}
