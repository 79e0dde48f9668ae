package permission

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/platform/scope"
	"adze/internal/platform/shell"
)

// A Config is what a policy is made of. Its zero value allows what is known to change nothing, and
// knows no directory.
type Config struct {
	Rules []Rule
	Mode  Mode // empty means Default

	// Dir is where relative paths of calls begin, Dirs are the working directories: the one adze was
	// started in first. An empty Dirs means Dir alone.
	Dir  string
	Dirs []string
	Home string
	// StateHome holds adze's own settings, sessions and plans; Protected are further directories whose
	// content says what adze runs.
	StateHome string
	Protected []string
	// Readable and Editable are what adze itself keeps for the model; each with what is below.
	Readable, Editable []string
	// PlanFile may be written while planning. Saved is the mode that planning began in.
	PlanFile string
	Saved    Mode
	// ManagedOnly drops every rule that is not of the managed policy.
	ManagedOnly bool
	Sandbox     Sandbox
	// Fold says that the file system does not tell upper and lower case apart.
	Fold bool

	added   []string                     // directories of the session, which a reload of settings keeps
	resolve func(string) (string, error) // replaces filepath.EvalSymlinks
}

// A Sandbox says what confines commands.
type Sandbox struct {
	On        bool     // a sandbox is in force and has passed its self-test
	AutoAllow bool     // what it confines need not be asked about
	Excluded  []string // patterns of commands that run outside
	// Missing says that a sandbox is wanted and there is none: what does more than read is asked about.
	Missing bool
}

// start returns the directory adze was started in.
func (c *Config) start() string {
	if len(c.Dirs) > 0 {
		return c.Dirs[0]
	}
	return c.Dir
}

// A Policy is a configuration made ready to decide by. It does not change and may be used by several
// goroutines.
type Policy struct {
	cfg      Config
	rules    []*Rule // in order of precedence
	allow    ruleSet
	ask      ruleSet
	deny     ruleSet
	known    func() *whereabouts // looked up when a path is judged first
	excluded []shell.Pattern
	problems []error
}

// A whereabouts is what a policy knows by name, as given and without links.
type whereabouts struct {
	dirs     []string // working directories
	readable []string
	editable []string
	guarded  []string // directories of adze itself
	plan     []string // the plan file
}

// Compile makes a policy. A rule that cannot be read is in its problems, and fails safe.
func Compile(c Config) *Policy {
	if c.Mode == "" {
		c.Mode = Default
	}
	if c.Dir == "" {
		c.Dir = c.start()
	}
	p := &Policy{cfg: c}
	for _, r := range c.Rules {
		if c.ManagedOnly && r.Scope != scope.Managed {
			continue
		}
		p.rules = append(p.rules, &r)
	}
	slices.SortStableFunc(p.rules, func(a, b *Rule) int { return scope.Compare(a.Scope, b.Scope) })
	for _, r := range p.rules {
		p.set(r.Behavior).add(r, &p.cfg)
		switch {
		case r.broken != nil:
			p.problems = append(p.problems, r.problem())
		case r.note != nil:
			p.problems = append(p.problems, r.remark())
		}
	}
	for _, s := range []*ruleSet{&p.allow, &p.ask, &p.deny} {
		s.build()
	}
	p.known = sync.OnceValue(p.look)
	for _, text := range c.Sandbox.Excluded {
		if pattern, err := shell.ParsePattern(text); err == nil {
			p.excluded = append(p.excluded, pattern)
		}
	}
	return p
}

// look finds out where what the configuration names is.
func (p *Policy) look() *whereabouts {
	c := &p.cfg
	dirs := c.Dirs
	if len(dirs) == 0 && c.Dir != "" {
		dirs = []string{c.Dir}
	}
	return &whereabouts{
		dirs:     p.places(dirs...),
		readable: p.places(c.Readable...),
		editable: p.places(c.Editable...),
		guarded:  p.places(slices.Concat(c.Protected, []string{c.StateHome})...),
		plan:     p.places(c.PlanFile),
	}
}

func (s *ruleSet) build() {
	s.reads.build()
	s.edits.build()
	for _, x := range s.own {
		x.build()
	}
}

// set returns the rules of a behaviour. What is neither allow nor ask denies.
func (p *Policy) set(b Behavior) *ruleSet {
	switch b {
	case Allow:
		return &p.allow
	case Ask:
		return &p.ask
	}
	return &p.deny
}

// places returns directories as given and without links, folded for comparison.
func (p *Policy) places(dirs ...string) []string {
	var all []string
	for _, dir := range dirs {
		for _, form := range p.cfg.both(dir) {
			if form = p.fold(form); !slices.Contains(all, form) {
				all = append(all, form)
			}
		}
	}
	return all
}

func (p *Policy) fold(name string) string { return foldPath(name, p.cfg.Fold) }

// Config returns what the policy was made of.
func (p *Policy) Config() Config { return p.cfg }

// Mode returns the mode.
func (p *Policy) Mode() Mode { return p.cfg.Mode }

// Rules returns the rules in force, highest precedence first.
func (p *Policy) Rules() []Rule {
	rules := make([]Rule, 0, len(p.rules))
	for _, r := range p.rules {
		rules = append(rules, *r)
	}
	return rules
}

// Problems returns what is wrong with the rules, for the person to correct.
func (p *Policy) Problems() []error { return p.problems }

// DeniesTool returns the rule that denies every call of the tool, so that the model need not see it.
// Rules that cannot be read hide nothing: they deny when the tool is called.
func (p *Policy) DeniesTool(names ...string) (Rule, bool) {
	for _, name := range names {
		for known := range servers(name) {
			for _, r := range p.deny.whole[known] {
				if r.whole() {
					return *r, true
				}
			}
		}
	}
	return Rule{}, false
}

// Hidden reports whether a deny rule for reading speaks of the absolute path. Searches and suggestions
// leave such files out.
func (p *Policy) Hidden(path string) bool {
	return p.deny.reads.match(p.fold(filepath.Clean(path)), nil) != nil
}

// Hides reports whether there is a deny rule for reading at all.
func (p *Policy) Hides() bool { return len(p.deny.reads.rules) > 0 }

// DeniedReads returns the deny rules for reading certain paths, highest precedence first.
func (p *Policy) DeniedReads() []Rule {
	var rules []Rule
	for _, r := range p.deny.reads.rules {
		rules = append(rules, *r.Rule)
	}
	return rules
}

// inside reports whether every path is one of the places or below one.
func inside(places, paths []string) bool {
	for _, path := range paths {
		if !slices.ContainsFunc(places, func(dir string) bool { _, ok := below(dir, path); return ok }) {
			return false
		}
	}
	return len(paths) > 0
}

// aside reports whether a path leads through a process's view of the file system, where it never
// counts as inside a directory.
func aside(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		rest, ok := strings.CutPrefix(path, "/proc/")
		return ok && slices.ContainsFunc(strings.Split(rest, "/"), func(name string) bool { return name == "root" || name == "cwd" || name == "fd" })
	})
}
