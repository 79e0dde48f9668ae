// Package instructions locates a project's instruction files, both inside and outside it, and
// lists the skipped files.
package instructions

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/instruct"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/settings"
)

// A Spec holds the instruction options of a conversation.
type Spec struct {
	Dirs []string // additional directories to search
	// Bare skips all files except the ones in Dirs.
	Bare bool
	// Includes are files outside the project that its instructions may include during this run.
	Includes []string
}

// Config returns where instructions are looked for. Files that a project includes from outside
// are skipped unless the user has approved them.
func Config(p *settings.Project, spec Spec) instruct.Config {
	src := p.Source()
	c := instruct.Config{
		Managed: src.Managed, User: p.Config, Other: p.Other, Home: p.User,
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

// Load returns the initial instruction files of a conversation in a workspace, and problems
// with them.
func Load(p *settings.Project, spec Spec) ([]instruct.File, []instruct.Problem) {
	set := instruct.New(Config(p, spec))
	return set.Load(), set.Problems()
}

// Outside returns the files that a workspace's instructions would include from outside, if the
// user approved them.
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

// LeftOut returns the workspace configuration that a conversation does not use, each item with
// the reason: files that need trust, and instructions.
func LeftOut(p *settings.Project, spec Spec) []string {
	var all []string
	for _, name := range p.Trust.LeftOut() {
		if !strings.HasSuffix(name, ".md") { // instructions are listed below
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
