package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"adze/internal/instruct"
	"adze/internal/platform/fsys"
	"adze/internal/platform/term"
	"adze/internal/platform/trust"
)

// instructions says where instructions are looked for. What a project includes from outside was approved
// by the person, or is left out.
func (p *preferences) instructions(env *Env, o *options) instruct.Config {
	w := p.workspace
	person := fsys.UserHome(env.Getenv)
	c := instruct.Config{
		Managed: env.Managed, User: p.home, Other: otherHome(env, person), Home: person,
		Dir: firstOf(o.configRoot, env.Dir), Root: w.Root, Extra: o.dirs, Bare: o.bare, Trusted: w.Trusted(),
		Excludes: p.live.Settings().Strings("instructionExcludes"),
		Approve:  func(path string) bool { return slices.Contains(o.includes, path) || w.approved(trust.Include(path)) },
	}
	if real, err := filepath.EvalSymlinks(c.Dir); err == nil {
		c.Dir = real
	}
	return c
}

// An outsider is a file outside the project that a file of the project includes.
type outsider struct{ path, by string }

// outsiders returns the files that the instructions of the workspace would include from outside, if it were
// trusted and nobody objected.
func (p *preferences) outsiders(env *Env, o *options) []outsider {
	if p.live.Settings().Bool("ADZE_DISABLE_INSTRUCTIONS") || p.live.Settings().Bool("ADZE_SIMPLE") {
		return nil
	}
	c := p.instructions(env, o)
	c.Trusted = true
	outside := map[string]bool{}
	c.Approve = func(path string) bool { outside[path] = true; return true }
	var all []outsider
	for _, f := range instruct.New(c).Load() {
		if real, err := filepath.EvalSymlinks(f.Path); err == nil && outside[real] {
			all = append(all, outsider{real, f.Parent})
		}
	}
	return all
}

// approveIncludes asks the person once about each file outside the project that the instructions of a
// trusted workspace include. The answer is kept with what they trust.
func approveIncludes(ctx context.Context, env *Env, o *options) error {
	p, _ := findSettings(env, o) // ok: warnings are told later
	w := p.workspace
	if !w.Trusted() || w.problem != nil {
		return nil
	}
	var refused []string
	for _, out := range p.outsiders(env, o) {
		switch {
		case slices.Contains(o.includes, out.path) || w.approved(trust.Include(out.path)):
			continue
		case slices.Contains(refused, out.by) || w.approved(trust.NoInclude(out.path)):
			refused = append(refused, out.path)
			continue
		}
		yes, err := env.confirm(fmt.Sprintf("%s includes %s, which is outside the project. Show it to the model, now and in the future?", term.Sanitize(out.by), term.Sanitize(out.path)))
		if err != nil {
			return err
		}
		answer := trust.NoInclude(out.path)
		if yes {
			answer = trust.Include(out.path)
			o.includes = append(o.includes, out.path)
		} else {
			refused = append(refused, out.path)
		}
		if w.store == nil {
			continue
		}
		if err := w.store.Approve(ctx, w.Workspace, answer); err != nil {
			return err
		}
	}
	return nil
}

// reportIncludes tells once which files are left out because nobody can be asked about them.
func (b *builder) reportIncludes(problems []instruct.Problem) {
	if interactive(b.env, b.o) {
		return
	}
	for _, problem := range problems {
		if problem.Outside != "" && !slices.Contains(b.refused, problem.Outside) {
			b.refused = append(b.refused, problem.Outside)
			b.env.say(fmt.Sprintf("%s %s; adze trust approves of it", problem.Path, problem.Text))
		}
	}
}
