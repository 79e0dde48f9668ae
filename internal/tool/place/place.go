// Package place is what the tools that search files share: where a call searches, and what it has to pass
// over. The search itself is done by platform/search.
package place

import (
	"context"
	"sync"

	"adze/internal/platform/paths"
	"adze/internal/platform/search"
	"adze/internal/tool"
)

// A Config is what a tool that searches files needs to know. Dir is required. Its functions may be called
// from several goroutines.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home func() string
	// Denied returns what names the rule that keeps a path from being read, if one does: such a path is
	// passed over. It is asked once per call; nil, also as its answer, means that nothing is hidden.
	Denied func() func(path string) (rule string)
	// Named returns the files below dir that have a name, a few; may be nil. It is asked about a path that is
	// missing.
	Named func(ctx context.Context, dir, name string) []string
}

// A Place is where one call searches. It is resolved once, so that what is searched is what was judged.
type Place struct {
	Dir    string // the working directory
	Path   string // of the file or directory that is searched, absolute, as it is judged and shown
	given  string // the same, as the model gave it; empty for the working directory
	base   paths.Base
	set    func() (paths.Set, error)
	denied func() func(path string) string
	named  func(ctx context.Context, dir, name string) []string
}

// Base returns what paths of a call that is bound now belong to.
func (c *Config) Base() paths.Base {
	home := c.Home
	if home == nil {
		home = paths.UserHome
	}
	return paths.Base{Dir: c.Dir(), Home: home()}
}

// At returns the place that is given, or the working directory if none is.
func (c *Config) At(base paths.Base, given string) (Place, error) {
	p := Place{Dir: base.Dir, Path: base.Dir, given: given, base: base, denied: c.Denied, named: c.Named}
	p.set = sync.OnceValues(func() (paths.Set, error) { return base.Resolve(p.target()) })
	if given == "" {
		return p, nil
	}
	var err error
	p.Path, err = base.Expand(given)
	return p, err
}

// Root returns Path as it is spelt on disk, where its names may be in another form of Unicode, and the path without
// links that was judged. Its error says why nothing can be searched there.
func (p *Place) Root(ctx context.Context, denied func(path string) string) (root, real string, err error) {
	if root, err = p.spelled(ctx, denied); err != nil {
		return root, "", err
	}
	set, err := p.set()
	if err == nil {
		set, err = set.Again()
	}
	return root, set.Real, err
}

// spelled returns Path as it is spelt on disk, and an error if nothing can be searched there.
func (p *Place) spelled(ctx context.Context, denied func(path string) string) (string, error) {
	root, err := p.Path, error(nil)
	if p.given != "" {
		root, err = p.base.Spelled(p.given)
	}
	if err != nil {
		return root, err
	}
	named := func(name string) []string {
		if p.named == nil {
			return nil
		}
		return p.named(ctx, p.Dir, name)
	}
	return root, search.CheckRoot(p.Dir, root, denied, named)
}

// Shown returns the path as the user sees it.
func (p *Place) Shown() string { return paths.Relative(p.Dir, p.Path) }

// Denied returns what names the rule that hides a path; nil means that nothing is hidden now.
func (p *Place) Denied() func(path string) (rule string) {
	if p.denied == nil {
		return nil
	}
	return p.denied()
}

// Concurrent says that others may search too.
func (p *Place) Concurrent() bool { return true }

// Access names the place as the model gave it.
func (p *Place) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Read, Target: p.target()}}
}

func (p *Place) target() string {
	if p.given == "" {
		return p.Dir
	}
	return p.given
}

// Paths returns the place with everything its path leads through. It is the same for the whole call.
func (p *Place) Paths(string) (paths.Set, error) { return p.set() }

// ReadOnly is false for a share of another machine: touching one can hand it the user's credentials.
func (p *Place) ReadOnly() bool { return !paths.IsUNC(p.given) }

// OpenWorld says that the place is on another machine.
func (p *Place) OpenWorld() bool { return paths.IsUNC(p.given) }
