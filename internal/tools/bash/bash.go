// Package bash implements the tool that runs shell commands.
package bash

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/sandbox/jail"
	"adze/internal/platform/shell"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// Name is the tool's name.
const Name = "Bash"

// Config configures the tool.
type Config struct {
	command.Config
	// Keep lists variables from the user's own settings that read-only commands also get.
	// Project lists a project's variables as NAME=value, which read-only commands do not get.
	Keep, Project []string
	// Roots returns the working directories. Read-only commands run no programs from them. Nil
	// means that there is only the current one.
	Roots func() []string
	// MayRead reports whether the rules allow reading a path without a prompt. Nil means that
	// read-only commands are not checked again when they run.
	MayRead func(path string) bool
	// Git checks the repositories of git commands; nil means that the tool creates its own
	// judge.
	Git *gitrepo.Judge
	// Hidden returns files and directories that jailed commands cannot read even in a working
	// directory; may be nil.
	Hidden func() []string
	// Snapshot returns a file with the user's bash aliases and functions, or ""; may be nil.
	// See [TakeSnapshot].
	Snapshot func() string
	// Sandbox confines commands that are not proven read-only; nil means that nothing does.
	Sandbox Sandbox
	// Files applies the changes of a simple sed -i, which then counts as an edit; nil treats it
	// as a command.
	Files *change.Files

	find     func() (Program, error) // finds the shell; called once
	path     *searchPath             // search path of read-only commands
	finder   *jail.Finder
	known    *knownPrograms
	jailed   func() error // nil if jails are available, or why not
	mayLeave bool         // the model may request to run outside the sandbox
}

var (
	//go:embed bash.md
	english string
	//go:embed bash.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// Input is the tool's input.
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
		return tool.NewBound(def, func(in SandboxInput) (tool.Call, error) {
			call := newCall(in.Input, c)
			call.leave = in.Leave
			return call, nil
		})
	}
	return lenientTool{tool.NewBound(def, func(in Input) (tool.Call, error) {
		return newCall(in, c), nil
	})}
}

// foreign explains how to run a command in another directory if the model uses a field for
// that, as in other programs. The input is not rewritten, because hooks and rules get the
// original.
func foreign(in map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	for _, name := range []string{"workdir", "cwd", "working_directory", "dir", "directory"} {
		if in[name] != nil {
			return nil, fmt.Errorf("unknown field %s. Begin the command with the directory: cd DIR && COMMAND", name)
		}
	}
	return nil, nil
}

// dialect returns the grammar of the shell, or of bash if none is found.
func (c Config) dialect() shell.Dialect {
	if c.find == nil {
		return shell.Bash
	}
	program, _ := c.find() // ok: nothing is run then
	return program.Dialect
}

// describe returns the description for the model, which depends on the configuration.
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
