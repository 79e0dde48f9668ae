// Package bash is the tool that runs shell commands. It runs them and says how they ended; whether a
// command may run is decided before it gets here, and its output is bounded by the executor.
package bash

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/jail"
	"adze/internal/platform/shell"
	"adze/internal/platform/texts"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// Name is the name of the tool.
const Name = "Bash"

// A Config is what the tool needs to know.
type Config struct {
	command.Config
	// Keep are the names of variables that read-only commands get as well: those of the user's own settings. Project are
	// the variables of a project, as NAME=value: read-only commands do not get them.
	Keep, Project []string
	// Roots returns the working directories: read-only commands run no program that lies in one. Nil
	// means that there is only the current one.
	Roots func() []string
	// MayRead reports whether the rules let what is at a path be read unasked; nil means that read-only
	// commands are not looked at again when they run.
	MayRead func(path string) bool
	// Git judges the repositories that git commands are about; nil means that the tool has a judge of its own.
	Git *gitrepo.Judge
	// Hidden returns files and directories that commands in a jail cannot read although they lie in a working
	// directory; may be nil.
	Hidden func() []string
	// Snapshot returns a file with the user's aliases and functions for bash to read, or ""; may be nil.
	// See [TakeSnapshot].
	Snapshot func() string
	// Sandbox confines commands that are not proven to only read; nil means that nothing does.
	Sandbox Sandbox
	// Files makes the changes of a simple sed -i, which is then an edit; nil means that it is a command.
	Files *change.Files

	find     func() (Program, error) // the shell; asked once
	path     *searchPath             // of read-only commands
	finder   *jail.Finder
	known    *knownPrograms
	jailed   func() error // nil if there are jails, or why not
	mayLeave bool         // the model may ask for a command outside the sandbox
}

var (
	//go:embed bash.md
	english string
	//go:embed bash.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// An Input is what the model gives.
type Input = command.Input

// New returns the tool.
func New(c Config) tool.Tool {
	c.Fill()
	if c.Git == nil {
		c.Git = gitrepo.New(gitrepo.Config{Environ: c.Env, Roots: c.Roots})
	}
	c.path = new(searchPath)
	c.find, c.finder, c.jailed = sync.OnceValues(Find), new(jail.Finder), jail.Check
	c.known = new(knownPrograms)
	c.mayLeave = c.confines() && c.Sandbox.Leaves()
	def := tool.Def{
		Name:   Name,
		Doc:    c.describe(texts.English),
		Schema: schemaOf(c),
		Traits: c.Traits("run a command in the shell", func() error {
			_, err := c.find()
			return err
		}),
		Foreign: foreign,
	}
	def.Aliases, def.Translate, def.Traits.Prepare = []string{"Shell"}, c.translate, jail.Warm
	if c.mayLeave {
		return tool.NewBound(def, func(in LeavingInput) (tool.Call, error) {
			call := newCall(in.Input, c)
			call.leave = in.Leave
			return call, nil
		})
	}
	return lenientTool{tool.NewBound(def, func(in Input) (tool.Call, error) {
		return newCall(in, c), nil
	})}
}

// foreign names the way to run a command elsewhere, for which other programs have a field. The input is not rewritten, since hooks
// and rules are given it as it is.
func foreign(in map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	for _, name := range []string{"workdir", "cwd", "working_directory", "dir", "directory"} {
		if in[name] != nil {
			return nil, fmt.Errorf("there is no field %s. Begin the command with the directory: cd DIR && COMMAND", name)
		}
	}
	return nil, nil
}

// dialect returns the grammar of the shell; that of bash if there is none.
func (c Config) dialect() shell.Dialect {
	if c.find == nil {
		return shell.Bash
	}
	program, _ := c.find() // ok: nothing is run then
	return program.Dialect
}

// describe returns what the model is told, which depends on what there is.
func (c Config) describe(l texts.Language) string {
	what, run := "bash", "stay"
	if c.dialect() == shell.POSIX {
		what = "sh"
	}
	if c.SetDir != nil {
		run = "cd"
	}
	text := c.Describe(l, catalogue, catalogue.Text(l, what), catalogue.Text(l, run))
	if c.confines() {
		text += "\n" + catalogue.Text(l, "sandbox")
		if c.mayLeave {
			text += "\n" + catalogue.Text(l, "leave")
		}
	}
	return text + c.GitText(l, catalogue.Text(l, "message"))
}

// translate implements [tool.Traits].Translate.
func (c Config) translate(l texts.Language) map[string]string {
	all := command.InputTexts(l)
	if all != nil {
		all["doc"] = c.describe(l)
		if c.mayLeave {
			all[leaveField] = catalogue.Text(l, leaveField)
		}
	}
	return all
}
