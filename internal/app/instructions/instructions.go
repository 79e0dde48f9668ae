// Package instructions says where the instruction files of a project are looked for, which of them lie outside it, and which
// are left out. Reading them is left to the package instruct, and telling the model of them to the package brief.
package instructions

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/instruct"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
)

// A Spec says which instructions a conversation has besides those that every one has in its project.
type Spec struct {
	Dirs []string // further directories to look in
	// Bare leaves out all files but those in Dirs.
	Bare bool
	// Includes are files outside the project that its instructions may include in this run.
	Includes []string
}

// Config says where instructions are looked for. What a project includes from outside was approved by
// the user, or is left out.
func Config(p *settings.Project, spec Spec) instruct.Config {
	src := p.Source()
	c := instruct.Config{
		Managed: src.Managed, User: p.Home, Other: p.Other, Home: p.User,
		Dir: src.Dir, Root: p.Trust.Root, Extra: spec.Dirs, Bare: spec.Bare, Withheld: !p.Trust.Readable(),
		Excludes: p.Values().Prompt.Excludes,
		Approve: func(path string) bool {
			return slices.Contains(spec.Includes, path) || p.Trust.Kept(trust.Include(path))
		},
	}
	if !p.Reads(scope.User) {
		c.User, c.Other = "", ""
	}
	if src.Root != "" {
		c.Dir = src.Root
	}
	if real, err := filepath.EvalSymlinks(c.Dir); err == nil {
		c.Dir = real
	}
	return c
}

// Load returns the instruction files that a conversation in a workspace begins with, and what is wrong with some.
func Load(p *settings.Project, spec Spec) ([]instruct.File, []instruct.Problem) {
	set := instruct.New(Config(p, spec))
	return set.Load(), set.Problems()
}

// Outside returns the files that the instructions of a workspace would include from outside, if the user approved of
// them.
func Outside(p *settings.Project, spec Spec) []settings.Include {
	if v := p.Values(); v.Prompt.NoInstructions || v.Size == settings.SmallPrompt {
		return nil
	}
	c := Config(p, spec)
	outside := map[string]bool{}
	c.Approve = func(path string) bool { outside[path] = true; return true }
	var all []settings.Include
	for _, f := range instruct.New(c).Load() {
		if real, err := filepath.EvalSymlinks(f.Path); err == nil && outside[real] {
			all = append(all, settings.Include{Path: real, By: f.Parent})
		}
	}
	return all
}

// LeftOut returns what of a workspace a conversation does not use, each with the reason: files that need trust,
// and instructions.
func LeftOut(p *settings.Project, spec Spec) []string {
	var all []string
	for _, name := range p.Trust.LeftOut() {
		if !strings.HasSuffix(name, ".md") { // those are told below
			all = append(all, name+" is not used, because the workspace is not trusted")
		}
	}
	if v := p.Values(); v.Size == settings.SmallPrompt || v.Prompt.NoInstructions {
		return all
	}
	set := instruct.New(Config(p, spec))
	set.Load()
	for _, problem := range set.Problems() {
		all = append(all, problem.Path+" "+problem.Text)
	}
	return all
}
