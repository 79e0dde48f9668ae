// Package place implements the common part of the search tools: where a call searches, and
// which paths it skips. Package platform/search implements the search itself.
package place

import (
	"context"
	"sync"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/search"
	"adze/internal/tool"
)

// Config configures a search tool. Dir is required. Its functions must be safe for concurrent
// use.
type Config struct {
	// Dir returns the working directory, absolute. It is called once per call, when the call is
	// bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home func() string
	// Denied returns a function that names the rule that denies reading a path, if any; such
	// paths are skipped. It is called once per call; a nil Denied or result means that nothing
	// is hidden.
	Denied func() func(path string) (rule string)
	// Named returns a few files below dir with the given name; may be nil. It is called for a
	// missing path.
	Named func(ctx context.Context, dir, name string) []string
}

// A Place is a call's search location. It is resolved once, so that the location searched is
// the location that was judged.
type Place struct {
	Dir    string // the working directory
	Path   string // absolute path to search, used for judging and display
	given  string // path given by the model; empty for the working directory
	base   paths.Base
	set    func() (paths.ResolvedPath, error)
	denied func() func(path string) string
	named  func(ctx context.Context, dir, name string) []string
}

// Base returns the base for relative paths of a call that is bound now.
func (c *Config) Base() paths.Base {
	home := c.Home
	if home == nil {
		home = paths.UserHome
	}
	return paths.Base{Dir: c.Dir(), Home: home()}
}

// At returns the given place, or the working directory if given is empty.
func (c *Config) At(base paths.Base, given string) (Place, error) {
	p := Place{Dir: base.Dir, Path: base.Dir, given: given, base: base, denied: c.Denied, named: c.Named}
	p.set = sync.OnceValues(func() (paths.ResolvedPath, error) { return base.Resolve(p.target()) })
	if given == "" {
		return p, nil
	}
	var err error
	p.Path, err = base.Expand(given)
	return p, err
}

// Root returns Path as spelled on disk, where names may have another Unicode form, and the
// resolved path that was judged. Its error is the reason the path cannot be searched.
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

// spelled returns Path as spelled on disk, or an error if it cannot be searched.
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

// Shown returns the path for display.
func (p *Place) Shown() string { return paths.Relative(p.Dir, p.Path) }

// Denied returns a function that names the rule that hides a path; nil means that nothing is
// hidden now.
func (p *Place) Denied() func(path string) (rule string) {
	if p.denied == nil {
		return nil
	}
	return p.denied()
}

// Concurrent returns true: searches may run concurrently.
func (p *Place) Concurrent() bool { return true }

// Access returns the place as the model gave it.
func (p *Place) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Read, Target: p.target()}}
}

func (p *Place) target() string {
	if p.given == "" {
		return p.Dir
	}
	return p.given
}

// Paths returns the place with every path it resolves through. It is the same for the whole
// call.
func (p *Place) Paths(string) (paths.ResolvedPath, error) { return p.set() }

// ReadOnly returns false for a network share: accessing one can send it the user's credentials.
func (p *Place) ReadOnly() bool { return !paths.IsUNC(p.given) }

// OpenWorld reports whether the place is on another machine.
func (p *Place) OpenWorld() bool { return paths.IsUNC(p.given) }
