// Package gitrepo decides whether git may run in a repository without asking the user: a
// repository can make git run programs, fetch, or show files from elsewhere. It does not parse
// git's configuration. It runs git commands that start no helpers to get the repository's
// location and active settings, verifies the location on disk, and distrusts every repository
// setting that is not known to be harmless.
package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// verdictTimeout is the time limit for all git commands of one verdict.
	verdictTimeout = 5 * time.Second
	// maxChanges is how often an inquiry is repeated because the repository changed during it.
	maxChanges = 4
	// maxSubmodules is the maximum number of submodules to examine; a repository with more is
	// distrusted.
	maxSubmodules = 40
	// maxVerdicts is the number of verdicts cached.
	maxVerdicts = 200
)

// Config configures a Judge. Environ is required.
type Config struct {
	// Environ returns the environment in which the user runs git; HOME, XDG_CONFIG_HOME and
	// PATH are used. It is called before git runs.
	Environ func() []string
	// Roots, if non-nil, returns the working directories, the session's first. A git executable
	// inside one of them is not run.
	Roots func() []string
}

// A Judge determines whether repositories can be trusted and caches its verdicts until the
// files they depend on change. It is safe for concurrent use.
type Judge struct {
	config Config
	began  time.Time

	mu    sync.Mutex
	known map[string]*Verdict
	// obeyed are the places from which git takes hooks and settings, keyed by directory.
	obeyed map[string]*places
	made   map[string]time.Time // creation times of git directories that adze created
	own    own
}

// own is the git executable that git itself starts.
type own struct {
	program string // the git that reported it
	stamp   stamp
	path    string
}

// New returns a judge. Repositories created from now on are distrusted; see [Verdict.Unjailed].
func New(c Config) *Judge {
	return &Judge{config: c, began: time.Now(), known: make(map[string]*Verdict)}
}

// Of returns the verdict on the repository that contains dir, which is absolute. It runs git
// only if a file that the verdict depends on has changed.
func (j *Judge) Of(dir string) *Verdict {
	dir = filepath.Clean(dir)
	j.mu.Lock()
	defer j.mu.Unlock()
	if v := j.known[dir]; v != nil {
		if v = v.current(); v != nil {
			j.known[dir] = v
			return v
		}
	}
	delete(j.known, dir)
	ctx, cancel := context.WithTimeout(context.Background(), verdictTimeout)
	defer cancel()
	v := j.inquire(ctx, dir)
	for range maxChanges {
		if !errors.Is(v.doubt, errChanged) {
			break
		}
		v = j.inquire(ctx, dir) // a command that used the repository may just be ending
	}
	if v.settled {
		if len(j.known) >= maxVerdicts {
			clear(j.known)
		}
		j.known[dir] = v
	}
	return v
}

// Made records that adze has just created the worktree at dir, so that it is not distrusted for
// being new.
func (j *Judge) Made(dir string) {
	target, err := readLine(filepath.Join(dir, ".git"), "gitdir: ")
	if err != nil {
		return
	}
	gitDir := resolve(dir, target)
	when, known := creationTime(gitDir)
	if !known {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.made == nil {
		j.made = map[string]time.Time{}
	}
	j.made[real(gitDir)] = when
	clear(j.known)
}

// A Verdict is the result of examining the repository that contains a directory, if any. It is
// immutable.
type Verdict struct {
	// Top is the work tree, Dir and Common its git directories. All are empty if the directory
	// is not in a repository.
	Top, Dir, Common string

	doubt     error     // git must not run at all
	unjailed  error     // git must not run unless the kernel confines it
	filtered  error     // work tree files must not be compared in a jail
	secrets   []string  // names of settings that contain secrets
	overrides []setting // settings for git in a jail
	plain     bool      // an external program of the user would produce patches
	linked    bool      // git starts git in submodules
	reads     []string
	program   string
	own       func() string // the git that git starts; may be nil or return ""
	environ   []string      // environment of the inquiry
	roles     dependencies
	settled   bool // no file changed so recently that a further change could go unnoticed

	indexes    dependencies // indexes of the repository and its submodules
	dirs       []string     // git directories of the repository and its submodules
	links      bool         // an index contains submodules, or could not be read without git
	attributes bool         // depends on attributes of tracked files
	hash       int          // object name size in bytes; 0 if unknown
	tables     bool         // references are not stored as files
	user       string       // user.name
	loose      bool         // an include names a file without a stamp
	status     StatusRules
}

// Program returns the git executable and the environment for running it outside a jail.
func (v *Verdict) Program() (path string, environ []string) {
	return v.program, slices.Concat(v.environ, settingsEnv(guards()))
}

// Doubt returns the reason why git must not run in the repository at all, or nil.
func (v *Verdict) Doubt() error { return v.doubt }

// Unjailed returns the reason why git must not run in the repository unless the kernel confines
// it, or nil.
func (v *Verdict) Unjailed() error {
	if v.doubt != nil {
		return v.doubt
	}
	return v.unjailed
}

// Command returns the reason why a read-only git command must not run in the repository, or
// nil. The arguments begin with the sub-command.
func (v *Verdict) Command(args []string, jailed bool) error {
	err := v.Unjailed()
	if jailed {
		err = v.doubt
	}
	if err != nil || len(args) == 0 {
		return err
	}
	switch sub := args[0]; {
	case sub == "config" || sub == "remote":
		return v.shown(args)
	case jailed && v.filtered != nil && compares(args):
		return v.filtered
	}
	return nil
}

// compares reports whether a command may read the content of work tree files.
func compares(args []string) bool {
	switch args[0] {
	case "status", "diff", "diff-files", "diff-index", "blame", "annotate", "ls-files", "grep":
		return true
	case "describe":
		return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--d") || strings.HasPrefix(arg, "--b") })
	}
	return false
}

// shown returns an error if a command would show settings that contain secrets.
func (v *Verdict) shown(args []string) error {
	for _, name := range v.secrets {
		section, _, _ := strings.Cut(name, ".")
		if args[0] == "remote" && section != "remote" && section != "url" {
			continue
		}
		if args[0] == "config" && !slices.ContainsFunc(args[1:], func(arg string) bool { return mayShow(arg, name) }) {
			continue
		}
		return fmt.Errorf("it would show the setting %s, which holds a secret", name)
	}
	return nil
}

// mayShow reports whether an argument of git config makes it show a setting.
func mayShow(arg, name string) bool {
	switch {
	case arg == "", arg == "-l", arg == "list", strings.HasPrefix(arg, "--l") && arg != "--local", strings.HasPrefix(arg, "--get-r"), strings.HasPrefix(arg, "--get-u"), arg == "--regexp", arg == "--url":
		return true
	}
	return strings.EqualFold(arg, name)
}

// Env returns the variables for running git in a jail with these verdicts: they keep it from
// prompting and fetching, and replace user settings that cannot work there. Commands that show
// settings run without the replacements, so that they show the configured values.
func Env(verdicts []*Verdict, showsSettings bool) []string {
	var all []setting
	for _, v := range verdicts {
		for _, s := range v.overrides {
			if !showsSettings && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return append(baseEnv(), settingsEnv(all)...)
}

// Replaces reports whether git needs different settings in a jail than configured.
func (v *Verdict) Replaces() bool { return len(v.overrides) > 0 }

// Plain reports whether commands that show patches need options against external programs; see
// [Harden].
func (v *Verdict) Plain() bool { return v.plain }

// Executes returns the programs that git executes: its own executable in git's exec path.
func (v *Verdict) Executes() []string {
	if v.own == nil {
		return nil
	}
	if path := v.own(); path != "" {
		return []string{path}
	}
	return nil
}

// Reads returns the files and directories that git reads for this repository, in addition to
// the system's.
func (v *Verdict) Reads() []string { return v.reads }
