package bash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/shell"
)

// gitUses holds the git commands of a line, which starts in dir, and the verdicts about their
// repositories.
type gitUses struct {
	judge *gitrepo.Judge
	dir   string
	uses  []shell.GitUse
	found []*gitrepo.Verdict // verdict for each use
	err   error              // why a repository is uncertain
}

// git checks the repositories of the line's git commands.
func (c *call) git(uses []shell.GitUse) *gitUses {
	g := &gitUses{judge: c.config.Git, dir: c.here.Path, uses: uses}
	g.look()
	return g
}

// look updates the verdicts about the repositories.
func (g *gitUses) look() {
	g.found, g.err = nil, nil
	for i, use := range g.uses {
		if i > 0 && use.Known && use.Dir == g.uses[i-1].Dir && g.uses[i-1].Known {
			g.found = append(g.found, g.found[i-1])
			continue
		}
		dir, err := g.dirOf(use)
		if err != nil {
			g.err = err
			return
		}
		g.found = append(g.found, g.judge.Of(dir))
	}
}

// doubt returns why the commands must not run without a prompt although they only read: the
// repositories could make them do more.
func (g *gitUses) doubt(jailed bool) error {
	if g.err != nil {
		return g.err
	}
	for i, v := range g.found {
		if err := v.Command(g.uses[i].Args, jailed); err != nil {
			return err
		}
		if jailed && v.Replaces() && g.showSettings() && !isConfig(g.uses[i]) {
			return errors.New("it shows settings that other parts of it must not have")
		}
	}
	return nil
}

// env returns the environment of the commands.
func (g *gitUses) env(jailed bool) []string {
	switch {
	case len(g.uses) == 0:
		return nil
	case !jailed:
		return gitrepo.Guard(g.showSettings())
	}
	return gitrepo.Env(g.found, g.showSettings())
}

// dirOf returns the directory in which a git command runs. It fails for .. after a symlink,
// which is ambiguous.
func (g *gitUses) dirOf(use shell.GitUse) (string, error) {
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

const (
	// listTime is the time limit for listing the files of a repository with git.
	listTime = 3 * time.Second
	// maxListed is the limit on the size of that list, in bytes.
	maxListed = 8 << 20
)

// repository returns a reader for the repository in dir, which runs git like a read-only
// command.
func (c *call) repository(dir string) (*gitrepo.Reader, error) {
	v := c.config.Git.Of(dir)
	r := &readOnlyRun{here: c.here, config: &c.config, jailed: c.config.jailed() == nil, needs: shell.Needs{Programs: []string{"git"}}, script: shell.Parse("git", shell.Vars{})}
	r.git = &gitUses{uses: []shell.GitUse{{Known: true}}, found: []*gitrepo.Verdict{v}}
	if err := v.Command([]string{"log"}, r.jailed); err != nil {
		return nil, err
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	return v.Reader(dir, func(dir string, input []byte, args ...string) ([]byte, error) {
		path, err := lookPath("git", r.env)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		cmd := osproc.Cmd{
			Path: path, Name: "git", Args: args, Dir: dir, Env: slices.Concat(r.env, r.git.env(r.jailed)), Input: input,
			Output: &limitedBuffer{&out}, Errors: io.Discard, Timeout: listTime, NoCore: true,
		}
		if r.jailed {
			cmd.Start = r.policy().Start
		}
		exit, err := c.config.Runner.Run(context.Background(), cmd)
		switch {
		case err != nil:
			return nil, err
		case exit.Code != 0 || exit.TimedOut || out.Len() > maxListed:
			return nil, fmt.Errorf("git does not list the files of %s", dir)
		}
		return out.Bytes(), nil
	})
}

// A limitedBuffer stores slightly more than maxListed bytes.
type limitedBuffer struct{ *bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len() <= maxListed {
		b.Buffer.Write(p) // ok: never fails
	}
	return len(p), nil
}

// plain reports whether patches must be generated without external programs.
func (g *gitUses) plain() bool {
	return slices.ContainsFunc(g.found, (*gitrepo.Verdict).Plain)
}

// plainGit is a bash function that replaces git and generates patches without external
// programs. It is on one line with the following code, so that the shell numbers the command's
// lines from 1.
const plainGit = `git() { local n=1; while case "${!n}" in -C|-c) n=$((n+2));; -*) n=$((n+1));; *) false;; esac; do :; done; ` +
	`case "${!n}" in diff|log|show|whatchanged|diff-tree|diff-index|diff-files) command git "${@:1:n}" --no-ext-diff --no-textconv "${@:n+1}";; ` +
	`blame|annotate) command git "${@:1:n}" --no-textconv "${@:n+1}";; *) command git "$@";; esac; }; `

// showSettings reports whether any of the commands shows the active settings.
func (g *gitUses) showSettings() bool { return slices.ContainsFunc(g.uses, isConfig) }

func isConfig(u shell.GitUse) bool { return len(u.Args) > 0 && u.Args[0] == "config" }
