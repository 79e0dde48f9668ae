package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/scope"
)

// A pathCheck decides about a call's paths.
type pathCheck struct {
	*Policy
	f *Facts
}

// judge checks a target for its kind of access.
func (c pathCheck) judge(t *Target) finding {
	var found finding
	if t.Write {
		found = c.write(t)
	} else {
		found = c.read(t)
	}
	if found.behavior != Allow {
		found.path = t.Set.Path
	}
	return found
}

// read decides about reading, for every path the target resolves through. The steps are
// ordered: deny, then ask, then allow.
func (c pathCheck) read(t *Target) finding {
	if r := c.ruleFor(&c.rules.Deny, t); r != nil {
		return deniedPath(r, false, t.Set.Path)
	}
	if found := c.doubtful(t); found.behavior != "" {
		return found
	}
	if r := c.ruleFor(&c.rules.Ask, t); r != nil {
		return askedPath(r, false, t.Set.Path)
	}
	written := *t
	written.Write = true
	if c.write(&written).behavior == Allow {
		return allow(Reason{Kind: MayWrite})
	}
	switch {
	case c.places().contains(t.names):
		return allow(Reason{Kind: InWorkingDir})
	case inside(c.places().readable, t.names):
		return allow(Reason{Kind: ModelFile})
	case c.f.Command != nil && c.f.Command.Jailed && inside(c.places().public(), t.names) && !aside(t.names):
		return allow(Reason{Kind: SystemFile})
	}
	if r := c.cover(t, nil); r != nil {
		return allowedBy(r)
	}
	found := ask(Reason{Kind: OutsideDirs, What: t.Set.Path, Rule: c.match(t, nil)})
	found.suggest = suggestRead(t)
	return found
}

// MayRead reports whether a command may read path without asking.
func (p *Policy) MayRead(path string) bool {
	r := resolver{p: p}
	t := Target{Given: path, Set: r.resolve(p.cfg.Dir, path)}
	t.names = r.names(t.Set)
	return pathCheck{p, &Facts{Names: []string{compat.Command}}}.read(&t).behavior == Allow
}

// write decides about writing, for every path the target resolves through.
func (c pathCheck) write(t *Target) finding {
	if r := c.ruleFor(&c.rules.Deny, t); r != nil {
		return deniedPath(r, true, t.Set.Path)
	}
	if found := c.left(t); found.behavior != "" {
		return found
	}
	if inside(c.places().editable, t.names) && t.Set.ResolveErr == nil {
		return allow(Reason{Kind: ModelFile})
	}
	if c.places().scratched(t.names) && t.Set.ResolveErr == nil && !t.Vague {
		return allow(Reason{Kind: ScratchFile})
	}
	if c.places().configured(t.names) && t.Set.ResolveErr == nil {
		if r := c.cover(t, func(r *rule.Rule) bool { return r.Scope == scope.Session }); r != nil {
			return allowedBy(r)
		}
	}
	if why := c.places().protected(t.names, c.cfg.Mode.Unattended()); why != "" {
		if t.Soft {
			return ask(Reason{Kind: ProtectedSoft, What: t.Set.Path, Text: why})
		}
		return confirm(Reason{Kind: Protected, What: t.Set.Path, Text: why})
	}
	if found := c.doubtful(t); found.behavior != "" {
		return found
	}
	if r := c.ruleFor(&c.rules.Ask, t); r != nil {
		return askedPath(r, true, t.Set.Path)
	}
	if c.cfg.Mode.AcceptsEdits() && c.places().contains(t.names) {
		return allow(Reason{Kind: ModeAllowsEdits, Mode: c.cfg.Mode})
	}
	if r := c.cover(t, nil); r != nil {
		return allowedBy(r)
	}
	if c.places().contains(t.names) {
		found := ask(Reason{Kind: ModeAsksEdit, Mode: c.cfg.Mode})
		found.suggest = []Update{{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session}}
		return found
	}
	found := ask(Reason{Kind: OutsideDirs, What: t.Set.Path, Rule: c.match(t, nil)})
	found.suggest = suggestWrite(t)
	return found
}

// left denies writing to the repository copy that the session has left.
func (c pathCheck) left(t *Target) finding {
	if !t.Write || !c.places().behind(t.names) {
		return finding{}
	}
	return finding{behavior: Deny, path: t.Set.Path, reason: Reason{Kind: LeftCopy, What: t.Set.Path, Text: c.cfg.start()}}
}

// doubtful asks about a path that may be misleading. Reads in a jail are exempt, because there
// the kernel's interpretation of the path counts.
func (c pathCheck) doubtful(t *Target) finding {
	if c.f.Command != nil && c.f.Command.Jailed && !t.Write && !t.Set.Remote {
		return finding{}
	}
	found := doubts(t)
	found.firm = found.firm && !t.Soft && !t.FromGlob
	return found
}

func doubts(t *Target) finding {
	switch {
	case t.Set.Remote:
		return confirm(Reason{Kind: RemotePath, What: t.Given})
	case t.Set.Odd != nil:
		return confirm(Reason{Kind: OddPath, What: t.Given, Doubt: fmt.Errorf("in %q, %s", t.Set.Odd.Part, t.Set.Odd.Why)})
	case t.Set.ResolveErr != nil:
		return confirm(Reason{Kind: BadPath, What: t.Given, Doubt: t.Set.ResolveErr})
	}
	return finding{}
}

// ruleFor returns a rule of s that applies to any member of the target. A path that is unknown
// or whose symlinks could not be resolved is judged by the known part.
func (c pathCheck) ruleFor(s *rule.Set, t *Target) *rule.Rule {
	for _, name := range t.names {
		for _, x := range c.indexes(s, t) {
			if r := x.Match(name, nil); r != nil {
				return r
			}
		}
	}
	if len(t.names) == 0 && t.Set.ResolveErr != nil { // a path that has no valid form
		for _, x := range c.indexes(s, t) {
			if r := x.Any(); r != nil {
				return r
			}
		}
	}
	return nil
}

// cover returns an allow rule if allow rules cover every member of the target. It considers
// only rules for which counts returns true; counts may be nil. Project rules cover nothing
// outside the working directories.
func (c pathCheck) cover(t *Target, counts func(*rule.Rule) bool) *rule.Rule {
	contained := c.places().contains(t.names)
	return c.match(t, func(r *rule.Rule) bool {
		return (contained || r.Scope != scope.Project) && (counts == nil || counts(r))
	})
}

// covers reports whether an allow rule for whole tools or commands applies to the call. A
// project rule does not apply if the call touches something outside the working directories.
func (c pathCheck) covers(r *rule.Rule) bool {
	return c.counts(r) && (r.Scope != scope.Project || !c.leaves())
}

// leaves reports whether the call is known to touch something outside the working directories
// that is not otherwise allowed.
func (c pathCheck) leaves() bool {
	out := func(t *Target) bool {
		return !t.Vague && !c.places().contains(t.names) && c.judge(t).behavior != Allow
	}
	for i := range c.f.Targets {
		if out(&c.f.Targets[i]) {
			return true
		}
	}
	return c.f.Command != nil && slices.ContainsFunc(c.f.Command.Uses, func(u Use) bool { return !u.Guess && out(&u.Target) })
}

// match returns an allow rule if the rules that count cover every member of the target.
func (c pathCheck) match(t *Target, counts func(*rule.Rule) bool) *rule.Rule {
	var covering *rule.Rule
	for _, name := range t.names {
		covering = nil
		for _, x := range c.indexes(&c.rules.Allow, t) {
			if covering = x.Match(name, counts); covering != nil {
				break
			}
		}
		if covering == nil {
			return nil
		}
	}
	if t.Set.ResolveErr != nil || t.Vague {
		return nil
	}
	return covering
}

// indexes returns the rule indexes for a target: for all reads or writes, and for the tool
// itself.
func (c pathCheck) indexes(s *rule.Set, t *Target) []*rule.PathIndex {
	var list []*rule.PathIndex
	if t.Write {
		list = append(list, &s.Edits)
	} else {
		list = append(list, &s.Reads)
	}
	if c.f.Command != nil {
		return list
	}
	for _, name := range c.f.Names {
		if x := s.Own(name); x != nil {
			list = append(list, x)
		}
	}
	return list
}

// treeRule asks about or denies a call that may touch everything below a directory, if a rule
// applies to something there.
func (c pathCheck) treeRule(t *Target) finding {
	if !t.Tree || t.Set.ResolveErr != nil {
		return finding{}
	}
	var found finding
	for _, name := range t.names {
		if r, surely := belowRule(&c.rules.Deny, t, name); r != nil {
			if surely {
				return deny(Reason{Kind: RuleDeniesWithin, Rule: r, What: t.Set.Path})
			}
			found = stricter(found, confirm(Reason{Kind: RuleProtectsWithin, Rule: r, What: t.Set.Path}))
		}
		if r, _ := belowRule(&c.rules.Ask, t, name); r != nil {
			found = stricter(found, confirm(Reason{Kind: RuleProtectsWithin, Rule: r, What: t.Set.Path}))
		}
	}
	return found
}

func belowRule(s *rule.Set, t *Target, name string) (*rule.Rule, bool) {
	if t.Write {
		return s.Edits.Below(name)
	}
	return s.Reads.Below(name)
}

// mention judges a word that may be a path, or an option containing one. Packs means that the
// contents of a directory are included.
func (c pathCheck) mention(word string, packs bool) finding {
	for _, name := range []string{word, afterAny(word, "="), afterAny(word, "@"), afterAny(word, ":")} {
		if name == "" || len(name) > maxPath {
			continue
		}
		full := name
		if rest, ok := strings.CutPrefix(name, "~/"); ok && c.cfg.Home != "" {
			full = filepath.Join(c.cfg.Home, rest)
		}
		if !filepath.IsAbs(full) {
			full = filepath.Join(c.cfg.Dir, full)
		}
		full = c.anchors.Form(filepath.Clean(full))
		if r := c.rules.Deny.Reads.Match(full, nil); r != nil {
			return deniedPath(r, false, name)
		}
		if r := c.rules.Deny.Edits.Match(full, nil); r != nil {
			return confirm(Reason{Kind: RuleProtects, Rule: r, What: name})
		}
		if packs {
			if r, _ := c.rules.Deny.Reads.Below(full); r != nil {
				return confirm(Reason{Kind: RuleProtectsWithin, Rule: r, What: name})
			}
		}
	}
	return finding{}
}

// maxPath is longer than any path that can be opened.
const maxPath = 4096

// afterAny returns the text after the first sep, or "".
func afterAny(word, sep string) string {
	_, rest, _ := strings.Cut(word, sep)
	return rest
}

// result returns the target's verdict, for explanations.
func (t *Target) result(found finding) PathResult {
	r := PathResult{Path: t.Given, Real: t.Set.Real, Write: t.Write, Behavior: found.behavior, Reason: found.reason}
	if r.Behavior == "" {
		r.Behavior = Ask
	}
	return r
}

// suggestRead proposes to allow reading the directory, and the one it resolves to, for the
// session.
func suggestRead(t *Target) []Update {
	u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Session}
	for _, dir := range foreignDirs(t) {
		u.Rules = append(u.Rules, RuleValue{Tool: compat.Read, Content: "/" + rule.Literal(filepath.ToSlash(dir)) + "/**"})
	}
	if len(u.Rules) == 0 {
		return nil
	}
	return []Update{u}
}

// suggestWrite proposes to make the directory a working directory and to accept edits there.
func suggestWrite(t *Target) []Update {
	dirs := foreignDirs(t)
	if len(dirs) == 0 {
		return nil
	}
	return []Update{
		{Type: AddDirectories, Directories: dirs, Destination: scope.Session},
		{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session},
	}
}

// foreignDirs returns the directories of all paths that a target resolves through. It returns
// nil if the path is doubtful, or if one of them is the root directory, which is too broad to
// open as a whole.
func foreignDirs(t *Target) []string {
	if t.Set.Remote || t.Set.ResolveErr != nil || t.Set.Odd != nil {
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

// isDir reports whether a set resolves to a directory.
func isDir(s paths.ResolvedPath) bool { return s.Info != nil && s.Info.IsDir() }
