package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/permission/rule"
	"adze/internal/platform/scope"
	"adze/internal/platform/shell"
)

// A Behavior is what a rule wants, and what is decided.
type Behavior = rule.Behavior

// The behaviors.
const (
	Allow = rule.Allow
	Ask   = rule.Ask
	Deny  = rule.Deny
)

// A Config is what a policy is made of. Its zero value allows what is known to change nothing, and
// knows no directory.
type Config struct {
	Rules []rule.Rule
	Mode  Mode // empty means Default

	// Dir is where relative paths of calls begin, Dirs are the working directories: the one adze was
	// started in first. An empty Dirs means Dir alone.
	Dir  string
	Dirs []string
	Home string
	// Copies are the worktrees that the session and those it works for have entered. Their main copies can be read but not
	// written.
	Copies []rule.Copy
	// StateHome holds adze's own settings, sessions and plans; Protected are further directories whose
	// content says what adze runs.
	StateHome string
	Protected []string
	// Obeyed returns the places from which git takes hooks and settings in a directory, other than .git. May be nil.
	Obeyed func(dir string) []string
	// Readable and Editable are what adze itself keeps for the model; each with what is below.
	Readable, Editable []string
	// Scratch is the directory for temporary files of the session, or empty.
	Scratch string
	// PlanFile may be written while planning. Saved is the mode that planning began in.
	PlanFile string
	Saved    Mode
	// ManagedOnly drops every rule that is not of the managed policy.
	ManagedOnly bool
	Sandbox     Sandbox
	// Fold says that the file system does not tell upper and lower case apart.
	Fold bool

	added []string // directories of the session, which a reload of settings keeps
	bases []string // of the leads: relative paths in rules that protect belong to them, too
}

// A Sandbox says what confines commands.
type Sandbox struct {
	On        bool     // a sandbox is in force and has passed its self-test
	AutoAllow bool     // what it confines need not be asked about
	Excluded  []string // patterns of commands that run outside
	// Missing says that a sandbox is wanted and there is none: what does more than read is asked about.
	Missing bool
}

// Start returns the first working directory: where adze was started, or the worktree that replaces it.
func (c Config) Start() string { return c.start() }

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
	anchors  rule.Anchors
	rules    *rule.Table
	places   func() *places // looked up when a path is judged first
	excluded []shell.Pattern
	trees    *rule.Worktrees // nil if no rule protects a path
}

// Compile makes a policy. A rule that cannot be read is in its problems, and fails safe.
func Compile(c Config) *Policy {
	if c.Mode == "" {
		c.Mode = Default
	}
	if c.Dir == "" {
		c.Dir = c.start()
	}
	p := &Policy{cfg: c, anchors: rule.Anchors{Start: c.start(), Dir: c.Dir, Also: c.bases, Home: c.Home, Fold: c.Fold}}
	rules := c.Rules
	if c.ManagedOnly {
		rules = slices.DeleteFunc(slices.Clone(rules), func(r rule.Rule) bool { return r.Scope != scope.Managed })
	}
	p.anchors.Copies = c.Copies
	if slices.ContainsFunc(rules, func(r rule.Rule) bool { return r.Behavior != Allow && r.OfPaths() }) {
		p.trees = rule.FindWorktrees(c.start())
		p.anchors.Copies = append(slices.Clip(c.Copies), p.trees.Copies...)
	}
	p.rules = rule.NewTable(rules, &p.anchors)
	p.places = sync.OnceValue(p.look)
	for _, text := range c.Sandbox.Excluded {
		if pattern, err := shell.ParsePattern(text); err == nil {
			p.excluded = append(p.excluded, pattern)
		}
	}
	return p
}

// stale reports whether a link that a rule leads through, or a worktree of the repository, has changed.
func (p *Policy) stale() bool { return p.rules.Stale() || p.trees.Stale() }

// Config returns what the policy was made of.
func (p *Policy) Config() Config { return p.cfg }

// Holds returns an error that says what to do if dir is not in a working directory.
func (p *Policy) Holds(dir string) error {
	if p.cfg.holds(dir) {
		return nil
	}
	return fmt.Errorf("%s is outside the working directories (%s); the user can add it with /add-dir or --add-dir", dir, strings.Join(p.cfg.workingDirs(), ", "))
}

// Mode returns the mode.
func (p *Policy) Mode() Mode { return p.cfg.Mode }

// Rules returns the rules in force, highest precedence first.
func (p *Policy) Rules() []rule.Rule { return p.rules.Rules() }

// Problems returns what is wrong with the rules, for the user to correct.
func (p *Policy) Problems() []error { return p.rules.Problems() }

// Shadowed returns the rules that never take effect. See [rule.Table.Shadowed].
func (p *Policy) Shadowed() map[int]rule.Rule { return p.rules.Shadowed() }

// DeniesTool returns the rule that denies every call of the tool, so that the model need not see it.
// Rules that cannot be read hide nothing: they deny when the tool is called.
func (p *Policy) DeniesTool(names ...string) (rule.Rule, bool) {
	r := p.rules.Deny.Whole(names, func(r *rule.Rule) bool { return r.Broken() == nil })
	if r == nil {
		return rule.Rule{}, false
	}
	return *r, true
}

// Denier says in words which rule denies every call of the tool, or "".
func (p *Policy) Denier(names ...string) string {
	if r, denied := p.DeniesTool(names...); denied {
		return fmt.Sprintf("rule %s from %s", r, r.Where())
	}
	return ""
}

// Hidden reports whether a deny rule for reading speaks of the absolute path. Searches and suggestions
// leave such files out.
func (p *Policy) Hidden(path string) bool {
	return p.rules.Deny.Reads.Match(p.anchors.Form(filepath.Clean(path)), nil) != nil
}

// Hides reports whether there is a deny rule for reading at all.
func (p *Policy) Hides() bool { return p.rules.Deny.Reads.Any() != nil }

// DeniedPlaces returns the files and directories that deny rules for reading name without wildcards, where there
// are any, without links.
func (p *Policy) DeniedPlaces() []string {
	var places []string
	for _, r := range p.DeniedReads() {
		name := strings.TrimSuffix(strings.TrimSuffix(r.Content, "/**"), "/*")
		switch {
		case strings.ContainsAny(name, "*?[{"):
			continue
		case strings.HasPrefix(name, "//"):
			name = name[1:]
		case strings.HasPrefix(name, "~/"):
			name = filepath.Join(p.cfg.Home, name[2:])
		case strings.HasPrefix(name, "/") && r.Base != "":
			name = filepath.Join(r.Base, name)
		case !filepath.IsAbs(name):
			name = filepath.Join(p.cfg.start(), name)
		}
		for _, name := range p.InCopies(name) {
			if real, err := filepath.EvalSymlinks(name); err == nil {
				places = append(places, real)
			}
		}
	}
	return places
}

// InCopies returns a path and the paths of the same file in the other working copies of the repository.
func (p *Policy) InCopies(name string) []string {
	names, main := []string{name}, p.anchors.Main(name)
	add := func(same string) {
		if !slices.Contains(names, same) {
			names = append(names, same)
		}
	}
	add(main)
	for _, c := range p.anchors.Copies {
		if rel, ok := rule.Below(p.anchors.Main(c.Root), main); ok {
			add(filepath.Join(c.Root, rel))
		}
	}
	return names
}

// DeniedReads returns the deny rules for reading certain paths, highest precedence first.
func (p *Policy) DeniedReads() []rule.Rule { return p.rules.Deny.Reads.Rules() }
