// Package gitrepo judges whether git may be asked about a repository without a question to the user: a
// repository can make git run programs, fetch, or show files of other places. It does not read git's
// configuration itself; it asks git, by commands that run no helper, where the repository is and which settings
// are in force, compares the places with what is on the disk, and doubts every setting of the repository that is
// not known to be harmless. Which git commands only read is left to package shell, and running them to others.
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
	// patience is how long all questions to git may take for one verdict.
	patience = 5 * time.Second
	// maxChanges is how often git is asked again because the repository changed meanwhile.
	maxChanges = 4
	// maxSubmodules is how many submodules are judged before the repository is doubted.
	maxSubmodules = 40
	// maxVerdicts is how many verdicts are kept.
	maxVerdicts = 200
)

// A Config is what a judge needs to know.
type Config struct {
	// Environ returns the environment in which the user runs git, of which HOME, XDG_CONFIG_HOME and PATH
	// count. It is asked for when git is.
	Environ func() []string
	// Roots returns the working directories, that of the session first. A git that lies in one of them is not
	// run. May be nil.
	Roots func() []string
}

// A Judge keeps what it found out about repositories for as long as the files that played a role stay as they
// are. It is safe for concurrent use.
type Judge struct {
	config Config
	began  time.Time

	mu    sync.Mutex
	known map[string]*Verdict
	// obeyed are the places from which git takes hooks and settings, by directory.
	obeyed map[string]*places
	made   map[string]time.Time // when git's directories were made that the program made itself
	own    own
}

// own is the git that git itself starts.
type own struct {
	program string // the git that was asked
	stamp   stamp
	path    string
}

// New returns a judge. Repositories that are made from now on are doubted; see [Verdict.Unjailed].
func New(c Config) *Judge {
	return &Judge{config: c, began: time.Now(), known: make(map[string]*Verdict)}
}

// Of returns what is known about the repository of dir, which is absolute. Git is asked only if a file that
// played a role has changed since it was asked.
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v := j.inquire(ctx, dir)
	for range maxChanges {
		if !errors.Is(v.doubt, errChanged) {
			break
		}
		v = j.inquire(ctx, dir) // a command that used the repository may end just now
	}
	if v.settled {
		if len(j.known) >= maxVerdicts {
			clear(j.known)
		}
		j.known[dir] = v
	}
	return v
}

// Made says that the program itself has made the worktree at dir just now, so that it is not doubted for being new.
func (j *Judge) Made(dir string) {
	target, err := readLine(filepath.Join(dir, ".git"), "gitdir: ")
	if err != nil {
		return
	}
	gitDir := resolve(dir, target)
	when, known := born(gitDir)
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

// A Verdict is what a judge found out about the repository of a directory, or that there is none. It does not
// change.
type Verdict struct {
	// Top is the work tree, Dir and Common are where git keeps what is known about it; empty without a
	// repository.
	Top, Dir, Common string

	doubt     error     // nothing may be asked
	unjailed  error     // nothing may be asked where the kernel does not confine git
	filtered  error     // files of the work tree may not be compared in a jail
	secrets   []string  // names of settings that hold a secret
	overrides []setting // what git has to be told in a jail
	plain     bool      // a program of the user would make patches
	linked    bool      // git starts git in submodules
	reads     []string
	program   string
	own       func() string // the git that git itself starts; may be nil or return ""
	environ   []string      // environment of the inquiry
	roles     roles
	settled   bool // no file had changed so recently that a further change might not show

	indexes    roles    // of the repository and its submodules
	dirs       []string // git's directories of the repository and its submodules
	links      bool     // an index has other repositories in it, or could not be read without git
	attributes bool     // it rests on attributes of tracked files
	hash       int      // the size of object names in bytes; 0 if it is not known
	tables     bool     // references are not files
	user       string   // user.name
	loose      bool     // an include names a file that has no stamp
}

// Program returns the git that was asked, and the environment for asking it more where the kernel does not
// confine it.
func (v *Verdict) Program() (path string, environ []string) {
	return v.program, slices.Concat(v.environ, settingsEnv(guards()))
}

// Doubt returns why git must not be asked in the repository at all, or nil.
func (v *Verdict) Doubt() error { return v.doubt }

// Unjailed returns why git must not be asked in the repository where the kernel does not confine it, or nil.
func (v *Verdict) Unjailed() error {
	if v.doubt != nil {
		return v.doubt
	}
	return v.unjailed
}

// Command returns why a git command that only reads must not run in the repository, or nil. The arguments begin
// with the sub-command.
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

// compares reports whether a command may look at the contents of files in the work tree.
func compares(args []string) bool {
	switch args[0] {
	case "status", "diff", "diff-files", "diff-index", "blame", "annotate", "ls-files", "grep":
		return true
	case "describe":
		return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--d") || strings.HasPrefix(arg, "--b") })
	}
	return false
}

// shown returns why the settings that a command shows must not be: some hold secrets.
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

// Env returns the variables with which git runs in a jail where these verdicts apply: what keeps it from waiting
// and from fetching, and settings in place of those of the user that cannot work there. Where settings are shown
// it runs without the latter, so that it shows what is configured.
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

// Replaces reports whether git needs other settings in a jail than are configured.
func (v *Verdict) Replaces() bool { return len(v.overrides) > 0 }

// Plain reports whether commands that show patches have to be told not to use external programs: see [Harden].
func (v *Verdict) Plain() bool { return v.plain }

// Executes returns the programs that git executes to answer: itself, where it keeps its own.
func (v *Verdict) Executes() []string {
	if v.own == nil {
		return nil
	}
	if path := v.own(); path != "" {
		return []string{path}
	}
	return nil
}

// Reads returns the files and directories that git reads for this repository, besides those of the system.
func (v *Verdict) Reads() []string { return v.reads }
