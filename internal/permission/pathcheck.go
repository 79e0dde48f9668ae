package permission

import (
	"fmt"
	"path/filepath"
	"slices"

	"adze/internal/permission/compat"
	"adze/internal/platform/scope"
)

// judge puts a target through the check of what is done to it.
func (p *Policy) judge(f *Facts, t *Target) finding {
	var found finding
	if t.Write {
		found = p.write(f, t)
	} else {
		found = p.read(f, t)
	}
	if found.behavior != Allow {
		found.path = t.Set.Path
	}
	return found
}

// read decides about reading, over everything the path leads through. The steps are in order: what
// forbids comes before what asks, and that before what allows.
func (p *Policy) read(f *Facts, t *Target) finding {
	if r := p.ruleFor(&p.deny, f, t); r != nil {
		return deniedBy(r, "reading "+t.Set.Path)
	}
	if found := p.doubtful(t); found.behavior != "" {
		return found
	}
	if r := p.ruleFor(&p.ask, f, t); r != nil {
		return askedBy(r, "reading "+t.Set.Path)
	}
	written := *t
	written.Write = true
	if p.write(f, &written).behavior == Allow {
		return allowed(ByWorkingDir, "it may be written, so it may be read")
	}
	switch {
	case p.contains(t.names):
		return allowed(ByWorkingDir, "it is in a working directory")
	case inside(p.known().readable, t.names):
		return allowed(ByOther, "adze keeps it for the model")
	}
	if r := p.coverAll(f, t); r != nil {
		return allowedBy(r)
	}
	found := asks(ByWorkingDir, "%s is outside the working directories", t.Set.Path)
	found.suggest = p.suggestRead(t)
	return found
}

// MayRead reports whether a command may read what is at path without being asked about.
func (p *Policy) MayRead(path string) bool {
	t := Target{Given: path, Set: p.resolve(p.cfg.Dir, path)}
	t.names = p.names(t.Set)
	return p.read(&Facts{Names: []string{compat.Command}}, &t).behavior == Allow
}

// write decides about writing, over everything the path leads through.
func (p *Policy) write(f *Facts, t *Target) finding {
	if r := p.ruleFor(&p.deny, f, t); r != nil {
		return deniedBy(r, "writing "+t.Set.Path)
	}
	if inside(p.known().editable, t.names) && t.Set.Doubt == nil {
		return allowed(ByOther, "adze keeps it for the model to write")
	}
	if p.configured(t.names) && t.Set.Doubt == nil {
		if r := p.cover(f, t, func(r *Rule) bool { return r.Scope == scope.Session }); r != nil {
			return allowedBy(r)
		}
	}
	if why := p.protected(t.names); why != "" {
		return unsafe("writing %s is always asked about: %s", t.Set.Path, why)
	}
	if found := p.doubtful(t); found.behavior != "" {
		return found
	}
	if r := p.ruleFor(&p.ask, f, t); r != nil {
		return askedBy(r, "writing "+t.Set.Path)
	}
	if p.acceptsEdits() && p.contains(t.names) {
		return finding{behavior: Allow, reason: Reason{Type: ByMode, Mode: p.cfg.Mode,
			Text: fmt.Sprintf("the mode %s allows edits in the working directories", p.cfg.Mode)}}
	}
	if r := p.coverAll(f, t); r != nil {
		return allowedBy(r)
	}
	if p.contains(t.names) {
		found := asks(ByMode, "writing %s is asked about in mode %s", t.Set.Path, p.cfg.Mode)
		found.reason.Mode = p.cfg.Mode
		found.suggest = []Update{{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session}}
		return found
	}
	found := asks(ByWorkingDir, "%s is outside the working directories", t.Set.Path)
	found.suggest = p.suggestWrite(t)
	return found
}

// acceptsEdits reports whether the mode allows edits inside the working directories.
func (p *Policy) acceptsEdits() bool {
	switch p.cfg.Mode {
	case AcceptEdits, Auto, Bypass:
		return true
	}
	return false
}

// doubtful asks about a path that may not be what it seems.
func (p *Policy) doubtful(t *Target) finding {
	switch {
	case t.Set.Remote:
		return unsafe("%s may name a share of another machine, and merely looking at it can hand over credentials", t.Given)
	case t.Set.Odd != nil:
		return unsafe("%s is spelt in a way that can mean something else: in %q, %s", t.Given, t.Set.Odd.Part, t.Set.Odd.Why)
	case t.Set.Doubt != nil:
		return unsafe("%v", t.Set.Doubt)
	}
	return finding{}
}

// contains reports whether all names lie in working directories.
func (p *Policy) contains(names []string) bool { return inside(p.known().dirs, names) && !aside(names) }

// ruleFor returns a rule of s that speaks of any member of the target. A path whose links could not be
// followed, or that is not known, is judged by what is known of it.
func (p *Policy) ruleFor(s *ruleSet, f *Facts, t *Target) *Rule {
	for _, name := range t.names {
		for _, x := range p.indexes(s, f, t) {
			if r := x.match(name, nil); r != nil {
				return r
			}
		}
	}
	if len(t.names) == 0 && t.Set.Doubt != nil { // a path that cannot even be written down
		for _, x := range p.indexes(s, f, t) {
			if len(x.rules) > 0 {
				return x.rules[0].Rule
			}
		}
	}
	return nil
}

// coverAll returns an allow rule if allow rules cover every member of the target.
func (p *Policy) coverAll(f *Facts, t *Target) *Rule { return p.cover(f, t, nil) }

func (p *Policy) cover(f *Facts, t *Target, counts func(*Rule) bool) *Rule {
	var covering *Rule
	for _, name := range t.names {
		covering = nil
		for _, x := range p.indexes(&p.allow, f, t) {
			if covering = x.match(name, counts); covering != nil {
				break
			}
		}
		if covering == nil {
			return nil
		}
	}
	if t.Set.Doubt != nil || t.Vague {
		return nil
	}
	return covering
}

// indexes returns where the rules are that speak of a target: of all that read or write, and of the
// tool's own.
func (p *Policy) indexes(s *ruleSet, f *Facts, t *Target) []*pathIndex {
	var list []*pathIndex
	if t.Write {
		list = append(list, &s.edits)
	} else {
		list = append(list, &s.reads)
	}
	if len(s.own) == 0 || f.Command != nil {
		return list
	}
	for _, name := range f.Names {
		if x := s.own[name]; x != nil {
			list = append(list, x)
		}
	}
	return list
}

// treeRule asks about, or denies, a call that may touch whatever is below a directory, if a rule
// speaks of something there.
func (p *Policy) treeRule(t *Target) finding {
	if !t.Tree || t.Set.Doubt != nil {
		return finding{}
	}
	var found finding
	for _, name := range t.names {
		if r, surely := p.belowRule(&p.deny, t, name); r != nil {
			if surely {
				return deniedBy(r, "touching "+t.Set.Path+", which it is in")
			}
			found = stricter(found, askedBy(r, "what is in "+t.Set.Path))
		}
		if r, _ := p.belowRule(&p.ask, t, name); r != nil {
			found = stricter(found, askedBy(r, "what is in "+t.Set.Path))
		}
	}
	return found
}

func (p *Policy) belowRule(s *ruleSet, t *Target, name string) (*Rule, bool) {
	if t.Write {
		return s.edits.below(name)
	}
	return s.reads.below(name)
}

// result returns how a target was judged, to explain it.
func (t *Target) result(found finding) PathResult {
	r := PathResult{Path: t.Given, Real: t.Set.Real, Write: t.Write, Behavior: found.behavior, Reason: found.reason}
	if r.Behavior == "" {
		r.Behavior = Ask
	}
	return r
}

// suggestRead proposes to allow reading the directory for the session, and what it leads to.
func (p *Policy) suggestRead(t *Target) []Update {
	u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Session}
	for _, dir := range p.foreign(t) {
		u.Rules = append(u.Rules, RuleValue{Tool: compat.Read, Content: "/" + globQuote(filepath.ToSlash(dir)) + "/**"})
	}
	if len(u.Rules) == 0 {
		return nil
	}
	return []Update{u}
}

// suggestWrite proposes to make the directory one to work in, and to accept edits there.
func (p *Policy) suggestWrite(t *Target) []Update {
	dirs := p.foreign(t)
	if len(dirs) == 0 {
		return nil
	}
	return []Update{
		{Type: AddDirectories, Directories: dirs, Destination: scope.Session},
		{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session},
	}
}

// foreign returns the directories a target leads through that are none to work in, unless they are too
// large to be opened as a whole.
func (p *Policy) foreign(t *Target) []string {
	if t.Set.Remote || t.Set.Doubt != nil || t.Set.Odd != nil {
		return nil
	}
	var dirs []string
	for _, name := range t.Set.All {
		if !isDir(t.Set) {
			name = filepath.Dir(name)
		}
		switch {
		case slices.Contains(dirs, name):
		case filepath.Dir(name) == name:
			return nil
		default:
			dirs = append(dirs, name)
		}
	}
	return dirs
}
