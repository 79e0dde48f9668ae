package shell

import (
	"errors"
	"strings"
)

// An effect is what a program may do that is not read-only. If a program has several, the last
// one is shown.
type effect uint8

const (
	changes  effect = iota + 1 // changes files
	signals                    // ends or signals processes
	runsAny                    // runs any code
	connects                   // reaches the network
	runsCode                   // runs code of the project
	installs                   // installs packages
)

// doubtful describes the possible effect of a command that is not known to be read-only. It
// returns why if nothing more specific is known.
func doubtful(words []Word, why error) error {
	name := baseName(words[0].Value)
	shown, second := name, ""
	if len(words) > 1 && plainName(words[1]) {
		second = words[1].Value
	}
	if second != "" && columns(name).verbs > 0 {
		shown += " " + second
	}
	shown = "`" + shown + "`"
	switch {
	case strings.Contains(words[0].Value, "/") && find(name) == nil:
		return why
	case name == "git":
		switch second {
		case "push", "pull", "fetch", "clone", "ls-remote":
			return errors.New(shown + " reaches the network")
		case "add", "commit", "checkout", "switch", "restore", "reset", "merge", "rebase", "stash", "rm", "mv", "clean", "cherry-pick", "revert", "apply", "am", "init", "tag", "branch":
			return errors.New(shown + " may change the repository")
		case "":
			return why
		}
		return errors.New("adze can't verify that " + shown + " is read-only")
	case name == "npm" || name == "pnpm" || name == "yarn":
		switch second {
		case "test", "t", "run", "start", "exec", "x", "dlx", "build":
			return errors.New(shown + " runs code of the project")
		}
		return errors.New(shown + " may run scripts, change files or reach the network")
	case name == "go" || name == "cargo":
		switch second {
		case "test", "run", "build", "generate", "vet", "tool", "check", "clippy", "bench", "doc", "fix":
			return errors.New(shown + " runs code of the project")
		case "get", "mod", "install", "list", "add", "update", "fetch", "publish", "search", "tree", "metadata":
			return errors.New(shown + " may reach the network or change files")
		}
		return why
	}
	switch columns(name).effect {
	case installs:
		return errors.New(shown + " may install packages or reach the network")
	case runsCode:
		return errors.New(shown + " runs code of the project")
	case connects:
		return errors.New(shown + " reaches the network")
	case signals:
		return errors.New(shown + " may end processes")
	case runsAny:
		return errors.New(shown + " can run arbitrary code")
	case changes:
		if find(name) == nil {
			return errors.New(shown + " changes files")
		}
	}
	if e, _ := lookup(words); e == nil && programs()[name] == nil {
		return errors.New(shown + " is not a program adze knows")
	}
	return why
}
