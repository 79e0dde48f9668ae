package rule

import (
	"slices"

	"adze/internal/permission/compat"
	"adze/internal/platform/fs/scope"
)

// A Table holds indexed rules, with a [Set] for each behavior. It is immutable.
type Table struct {
	Allow, Ask, Deny Set

	rules    []*Rule // highest precedence first
	problems []error
	links    *links
}

// NewTable returns a table of the rules. An unreadable rule is reported in Problems and fails
// safe.
func NewTable(rules []Rule, a *Anchors) *Table {
	t := &Table{links: &a.links}
	a.copies = newCopies(a.Copies, a)
	for _, r := range rules {
		t.rules = append(t.rules, &r)
	}
	slices.SortStableFunc(t.rules, func(a, b *Rule) int { return scope.Compare(a.Scope, b.Scope) })
	for _, r := range t.rules {
		t.set(r.Behavior).add(r, a)
		switch {
		case r.broken != nil:
			t.problems = append(t.problems, r.problem())
		case r.note != nil:
			t.problems = append(t.problems, r.remark())
		}
		if r.flaw = r.findFlaw(a); r.flaw != nil {
			t.problems = append(t.problems, r.warning())
		}
	}
	t.Allow.build(nil)
	t.Ask.build(a.copies)
	t.Deny.build(a.copies)
	return t
}

// Stale reports whether a symlink on a rule's path has changed, so that the table must be
// rebuilt.
func (t *Table) Stale() bool { return t.links.stale() }

// set returns the rules of a behavior. Anything other than allow or ask denies.
func (t *Table) set(b Behavior) *Set {
	switch b {
	case Allow:
		return &t.Allow
	case Ask:
		return &t.Ask
	}
	return &t.Deny
}

// Rules returns the rules, highest precedence first.
func (t *Table) Rules() []Rule {
	rules := make([]Rule, 0, len(t.rules))
	for _, r := range t.rules {
		rules = append(rules, *r)
	}
	return rules
}

// Problems returns the problems in the rules, for the user to fix.
func (t *Table) Problems() []error { return t.problems }

// A Set indexes the rules of one behavior by the calls they apply to, so that a decision checks
// few of them however many there are.
type Set struct {
	Commands CommandIndex
	Reads    PathIndex // rules for every tool that reads
	Edits    PathIndex // rules for every tool that writes
	Hosts    HostIndex
	// Nameless is a rule whose tool name cannot be parsed, or nil.
	Nameless *Rule

	whole  map[string][]*Rule // rules for all calls of a tool, by name
	own    map[string]*PathIndex
	others map[string][]*Rule // rules whose content the tool itself matches
}

// add indexes a rule.
func (s *Set) add(r *Rule, a *Anchors) {
	switch {
	case r.broken != nil && r.Behavior == Allow:
	case r.Tool == "":
		s.Nameless = r
	case r.Content == "" || r.broken != nil && !r.kind().Paths() && r.kind() != compat.Host:
		add(&s.whole, r.Tool, r)
	case r.kind() == compat.Shell:
		s.Commands.add(r)
	case r.kind() == compat.Host:
		s.Hosts.add(r)
	case r.kind().Paths():
		s.addPath(r, a)
	default:
		add(&s.others, r.Tool, r)
	}
}

func (s *Set) addPath(r *Rule, a *Anchors) {
	if r.broken != nil && r.Content == "" { // broken parentheses: applies to the whole tool
		add(&s.whole, r.Tool, r)
		return
	}
	pr := placePath(r, a)
	switch {
	case r.Tool == compat.Read:
		s.Reads.add(pr)
	case r.Tool == compat.Edit || r.kind() == compat.Writes && r.Behavior != Allow:
		// Denying one way to write a file denies the others; allowing one does not allow the
		// others.
		s.Edits.add(pr)
	default:
		if s.own == nil {
			s.own = map[string]*PathIndex{}
		}
		if s.own[r.Tool] == nil {
			s.own[r.Tool] = new(PathIndex)
		}
		s.own[r.Tool].add(pr)
	}
}

func add[V any](m *map[string][]V, key string, v V) {
	if *m == nil {
		*m = map[string][]V{}
	}
	(*m)[key] = append((*m)[key], v)
}

// Whole returns a rule that applies to every call of the tool with these names. It considers
// only rules for which counts returns true; counts may be nil.
func (s *Set) Whole(names []string, counts func(*Rule) bool) *Rule {
	for _, name := range names {
		for known := range servers(name) {
			for _, r := range s.whole[known] {
				if counts == nil || counts(r) {
					return r
				}
			}
		}
	}
	return nil
}

// Own returns the path rules for the named tool only, or nil.
func (s *Set) Own(name string) *PathIndex { return s.own[name] }

// Others returns the named tool's rules whose content the tool itself matches.
func (s *Set) Others(name string) []*Rule { return s.others[name] }

func (s *Set) build(c *Copies) {
	s.Reads.build(c)
	s.Edits.build(c)
	for _, x := range s.own {
		x.build(c)
	}
}
