// Package place is what the tools that search files share: where a call searches, and what it has to pass
// over. The search itself is done by platform/search.
package place

import (
	"adze/internal/platform/paths"
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
}

// A Place is where one call searches. It is fixed when the call is bound, so that what is searched is what
// was judged.
type Place struct {
	Dir    string // the working directory
	Path   string // of the file or directory that is searched, absolute, as it is judged and shown
	given  string // the same, as the model gave it; empty for the working directory
	base   paths.Base
	denied func() func(path string) string
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
	p := Place{Dir: base.Dir, Path: base.Dir, given: given, base: base, denied: c.Denied}
	if given == "" {
		return p, nil
	}
	var err error
	p.Path, err = base.Expand(given)
	return p, err
}

// Root returns Path as it is spelt on disk, where its names may be in another form of Unicode.
func (p *Place) Root() (string, error) {
	if p.given == "" {
		return p.Path, nil
	}
	return p.base.Spelled(p.given)
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
	target := p.given
	if target == "" {
		target = p.Dir
	}
	return []tool.Access{{Verb: tool.Read, Target: target}}
}

// ReadOnly is false for a share of another machine: touching one can hand it the user's credentials.
func (p *Place) ReadOnly() bool { return !paths.IsUNC(p.given) }

// OpenWorld says that the place is on another machine.
func (p *Place) OpenWorld() bool { return paths.IsUNC(p.given) }
