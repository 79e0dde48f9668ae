package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/permission/reminder"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/proc/bell"
)

// A Child describes a conversation that works for another one: a sub-agent, a fork, a skill, a
// hook's agent, or a teammate. It can only narrow its lead's limits.
type Child struct {
	// Mode applies if it is stricter than the lead's mode. Empty means the lead's.
	Mode Mode
	// Dir is the base directory for relative paths. It is inside a working directory of the
	// lead, or it is Copy.Root. Empty means the lead's.
	Dir string
	// Copy is the worktree that replaces the lead's first working directory. The zero value means none.
	Copy rule.Copy
}

// Child returns the gate of a conversation that works for g's. Everything that limits g also
// limits the child from then on: deny and ask rules, working directories, a stricter mode,
// removed rules. Session grants to the child apply only to the child; permanent grants apply to
// all.
func (g *Gate) Child(c Child) (*Gate, error) {
	lead := g.Policy()
	s := &State{
		mayBypass: g.mayBypass, noAuto: g.noAuto, defaultMode: g.defaultMode, language: g.language,
		now: lead.cfg, lead: g.State, ownMode: c.Mode, leadPolicy: lead, inherited: lead.cfg.Rules,
	}
	s.now.Rules = slices.Clone(lead.cfg.Rules)
	s.now.Readable, s.now.Editable, s.now.PlanFile = nil, nil, ""
	s.now.Dirs, s.now.added = lead.cfg.workingDirs(), nil
	if c.Copy.Root != "" {
		if !lead.cfg.holds(c.Copy.Main) {
			return nil, fmt.Errorf("%s is a copy of %s, which is outside the working directories", c.Copy.Root, c.Copy.Main)
		}
		s.now.enter(c.Copy)
	}
	if c.Dir != "" {
		if err := (&Policy{cfg: s.now}).Holds(c.Dir); err != nil {
			return nil, err
		}
		s.now.Dir = c.Dir
	}
	if s.now.Mode == Auto {
		s.plan.news = append(s.plan.news, reminder.AutoOn)
	}
	s.follow(childMode(lead.Mode(), c.Mode))
	s.policy = s.compile()
	return &Gate{State: s, say: g.say}, nil
}

// enter makes a worktree the first working directory and the base for relative paths.
func (c *Config) enter(t rule.Copy) {
	rest := c.workingDirs()
	c.Dirs = slices.Concat([]string{t.Root}, rest[min(1, len(rest)):])
	c.Dir, c.Copies = t.Root, append(slices.Clip(c.Copies), t)
}

// holds reports whether dir is a working directory or below one, after resolving symlinks.
func (c *Config) holds(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(c.workingDirs(), func(root string) bool {
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return false
		}
		_, ok := rule.Below(filepath.ToSlash(root), filepath.ToSlash(real))
		return ok
	})
}

// compile builds the policy from the configuration, within the lead's limits.
func (s *State) compile() *Policy {
	if s.lead == nil {
		return Compile(s.now)
	}
	return Compile(s.now.within(&s.leadPolicy.cfg, s.inherited))
}

// within returns c limited by its lead. It drops allow rules and directories that the lead
// lacks, except grants to c itself: session and command rules that were not inherited, and
// session directories. It adds the lead's restrictions and its saved rules.
func (c Config) within(lead *Config, inherited []rule.Rule) Config {
	granted := func(r rule.Rule) bool {
		return (r.Scope == scope.Session || r.Scope == scope.Command) && !has(inherited, r)
	}
	own, theirs := c.Rules, lead.counting()
	c.Rules = nil
	for _, r := range own {
		if r.Behavior != Allow || granted(r) || has(theirs, r) {
			c.Rules = append(c.Rules, r)
		}
	}
	for _, r := range theirs {
		if (r.Behavior != Allow || r.Scope.Writable()) && !has(c.Rules, r) {
			c.Rules = append(c.Rules, r)
		}
	}
	dirs := c.workingDirs()
	c.Dirs = nil
	for i, dir := range dirs {
		if i == 0 || slices.Contains(lead.workingDirs(), dir) || slices.Contains(c.added, dir) || lead.holds(dir) {
			c.Dirs = append(c.Dirs, dir)
		}
	}
	c.Copies = union(c.Copies, lead.Copies)
	c.Protected = union(c.Protected, lead.Protected)
	c.bases = union(lead.bases, []string{lead.start(), lead.Dir})
	c.ManagedOnly = c.ManagedOnly || lead.ManagedOnly
	return c
}

// counting returns the rules that count in the current mode; see [Policy.counts].
func (c *Config) counting() []rule.Rule {
	if !c.classifies() {
		return c.Rules
	}
	return slices.DeleteFunc(slices.Clone(c.Rules), func(r rule.Rule) bool { return r.Behavior == Allow && r.Broad() })
}

// union returns a followed by the elements of b that a lacks.
func union[T comparable](a, b []T) []T {
	a = slices.Clip(a)
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

func has(rules []rule.Rule, r rule.Rule) bool {
	return slices.ContainsFunc(rules, func(own rule.Rule) bool {
		return own.Behavior == r.Behavior && own.Scope == r.Scope && own.Base == r.Base && own.String() == r.String()
	})
}

// bells returns the bells that ring when the policy of s or of any of its leads changes.
func bells(s *State) (all []*bell.Bell) {
	for ; s != nil; s = s.lead {
		all = append(all, &s.moved)
	}
	return all
}

// applyLead applies the lead's new policy.
func (s *State) applyLead(lead *Policy) {
	s.leadPolicy = lead
	s.follow(childMode(lead.Mode(), s.ownMode))
	renew(s)
}

// follow sets a child's mode.
func (s *State) follow(m Mode) {
	was := s.now.Mode
	if m == was {
		return
	}
	if m == Plan {
		s.enter()
	} else {
		s.now.Saved = ""
	}
	s.now.Mode = m
	s.plan.changed(was, m)
}

// childMode returns a child's mode: the stricter of the lead's mode and the one in the child's
// definition.
func childMode(lead, wish Mode) Mode {
	if wish == "" {
		return lead
	}
	return Stricter(lead, wish)
}

// DeniesFor returns a rule that denies the tool's calls with the given content, such as an
// agent type, or all of its calls.
func (p *Policy) DeniesFor(names []string, content string) (rule.Rule, bool) {
	for _, r := range p.cfg.Rules {
		if r.Behavior == Deny && p.counts(&r) && slices.Contains(names, r.Tool) && (r.Content == "" || r.Content == "*" || strings.EqualFold(r.Content, content)) {
			return r, true
		}
	}
	return rule.Rule{}, false
}
