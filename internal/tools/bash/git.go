package bash

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/shell"
)

// gitUses are the git commands of a line, which starts in a directory.
type gitUses struct {
	judge *gitrepo.Judge
	dir   string
	uses  []shell.GitUse
}

// git returns the git commands of the line.
func (c *call) git(uses []shell.GitUse) gitUses { return gitUses{c.config.Git, c.here.Path, uses} }

// doubt returns why they must not run unasked, although they only read: the repositories could make them do
// more.
func (g gitUses) doubt(jailed bool) error {
	for _, use := range g.uses {
		v, err := g.repository(use)
		if err == nil {
			err = v.Command(use.Args, jailed)
		}
		if err != nil {
			return err
		}
		if jailed && v.Replaces() && g.showSettings() && !isConfig(use) {
			return errors.New("it shows settings that other parts of it must not have")
		}
	}
	return nil
}

// env returns the variables with which they run.
func (g gitUses) env(jailed bool) []string {
	switch {
	case len(g.uses) == 0:
		return nil
	case !jailed:
		return gitrepo.Guard(g.showSettings())
	}
	return gitrepo.Env(g.repositories(), g.showSettings())
}

// repositories returns what is known about all repositories.
func (g gitUses) repositories() []*gitrepo.Verdict {
	var all []*gitrepo.Verdict
	for _, use := range g.uses {
		if v, err := g.repository(use); err == nil { // otherwise it does not run
			all = append(all, v)
		}
	}
	return all
}

// repository returns what is known about the repository that a git command is about.
func (g gitUses) repository(use shell.GitUse) (*gitrepo.Verdict, error) {
	dir, err := g.where(use)
	if err != nil {
		return nil, err
	}
	return g.judge.Of(dir), nil
}

// where returns the directory that a git command runs in. Where .. leads behind a link depends on who goes there.
func (g gitUses) where(use shell.GitUse) (string, error) {
	dir := g.dir
	switch {
	case !use.Known:
		return "", errors.New("it is not certain in which directory git runs")
	case filepath.IsAbs(use.Dir):
		dir = use.Dir
	case use.Dir != "":
		dir += string(filepath.Separator) + use.Dir
	}
	if !strings.Contains(use.Dir, "..") {
		return dir, nil
	}
	physical, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("looking for the repository: %w", err)
	}
	logical, err := filepath.EvalSymlinks(filepath.Clean(dir))
	if err != nil || logical != physical {
		return "", fmt.Errorf("it is not certain where %s leads", use.Dir)
	}
	return physical, nil
}

// plain reports whether patches have to be asked for without external programs.
func (g gitUses) plain() bool {
	return slices.ContainsFunc(g.repositories(), (*gitrepo.Verdict).Plain)
}

// plainGit is a function of bash that stands for git and asks for patches without external programs. It is in
// one line with what follows, so that the shell numbers the lines of the command from 1.
const plainGit = `git() { local n=1; while case "${!n}" in -C|-c) n=$((n+2));; -*) n=$((n+1));; *) false;; esac; do :; done; ` +
	`case "${!n}" in diff|log|show|whatchanged|diff-tree|diff-index|diff-files) command git "${@:1:n}" --no-ext-diff --no-textconv "${@:n+1}";; ` +
	`blame|annotate) command git "${@:1:n}" --no-textconv "${@:n+1}";; *) command git "$@";; esac; }; `

// showSettings reports whether one of them shows which settings are in force.
func (g gitUses) showSettings() bool { return slices.ContainsFunc(g.uses, isConfig) }

func isConfig(u shell.GitUse) bool { return len(u.Args) > 0 && u.Args[0] == "config" }
