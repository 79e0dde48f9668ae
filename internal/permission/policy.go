package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/shell"
)

// A Behavior is a rule's effect, and the outcome of a decision.
type Behavior = rule.Behavior

// The behaviors.
const (
	Allow = rule.Allow
	Ask   = rule.Ask
	Deny  = rule.Deny
)

// Config configures a Policy. The zero value allows calls known to change nothing and has no
// directories.
type Config struct {
	Rules []rule.Rule
	Mode  Mode // empty means Default

	// Dir is the base for relative paths in calls. Dirs holds the working directories, starting
	// with the one adze was started in. An empty Dirs means just Dir.
	Dir  string
	Dirs []string
	Home string
	// Copies holds the worktrees entered by the session and its leads. Their main copies can be
	// read but not written.
	Copies []rule.Copy
	// UserDir holds the user's settings. Protected holds directories whose contents determine
	// which code adze runs, such as adze's own.
	UserDir   string
	Protected []string
	// Obeyed returns the places other than .git from which git takes hooks and settings for a
	// directory. It may be nil.
	Obeyed func(dir string) []string
	// Readable and Editable hold the paths of adze's own files for the model, including
	// everything below them.
	Readable, Editable []string
	// Scratch is the session's temporary directory, or empty.
	Scratch string
	// PlanFile may be written while planning. Saved is the mode in which planning began.
	PlanFile string
	Saved    Mode
	// ManagedOnly drops every rule not from the managed policy.
	ManagedOnly bool
	Sandbox     Sandbox
	// Fold is set if the file system is case-insensitive.
	Fold bool

	added []string // session directories, kept when settings are reloaded
	bases []string // the leads' bases for relative paths in deny and ask rules
}

// A Sandbox describes the confinement of commands.
type Sandbox struct {
	On        bool     // a sandbox is active and has passed its self-test
	AutoAllow bool     // confined commands need no prompt
	Excluded  []string // patterns for commands that run outside
	// Missing is set if a sandbox is wanted but unavailable: commands that do more than read
	// need confirmation.
	Missing bool
}

// Start returns the first working directory: the one adze was started in, or the worktree that
// replaces it.
func (c Config) Start() string { return c.start() }

func (c *Config) start() string {
	if len(c.Dirs) > 0 {
		return c.Dirs[0]
	}
	return c.Dir
}

// A Policy is a compiled configuration. It is immutable and safe for concurrent use.
type Policy struct {
	cfg      Config
	anchors  rule.Anchors
	rules    *rule.Table
	places   func() *knownPaths // computed when the first path is judged
	excluded []shell.Pattern
	trees    *rule.Worktrees // nil if no rule protects a path
}

// Compile returns the policy for c. An unreadable rule is reported in Problems and fails safe.
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

// stale reports whether a symlink on a rule's path, or a worktree of the repository, has
// changed.
func (p *Policy) stale() bool { return p.rules.Stale() || p.trees.Stale() }

// Config returns the policy's configuration.
func (p *Policy) Config() Config { return p.cfg }

// Holds returns an error with advice if dir is not in a working directory.
func (p *Policy) Holds(dir string) error {
	if p.cfg.holds(dir) {
		return nil
	}
	return fmt.Errorf("%s is outside the working directories (%s); the user can add it with /add-dir or --add-dir", dir, strings.Join(p.cfg.workingDirs(), ", "))
}

// Mode returns the mode.
func (p *Policy) Mode() Mode { return p.cfg.Mode }

// Rules returns the active rules, highest precedence first.
func (p *Policy) Rules() []rule.Rule { return p.rules.Rules() }

// Problems returns the problems in the rules, for the user to fix.
func (p *Policy) Problems() []error { return p.rules.Problems() }

// Shadowed returns the rules that never take effect. See [rule.Table.Shadowed].
func (p *Policy) Shadowed() map[int]rule.Rule { return p.rules.Shadowed() }

// DeniesTool returns the rule that denies every call of the tool, so that the tool can be
// hidden from the model. Unreadable rules hide nothing: they deny when the tool is called.
func (p *Policy) DeniesTool(names ...string) (rule.Rule, bool) {
	r := p.rules.Deny.Whole(names, func(r *rule.Rule) bool { return r.Broken() == nil })
	if r == nil {
		return rule.Rule{}, false
	}
	return *r, true
}

// Denier describes the rule that denies every call of the tool, or returns "".
func (p *Policy) Denier(names ...string) string {
	if r, denied := p.DeniesTool(names...); denied {
		return fmt.Sprintf("rule %s from %s", r, r.Where())
	}
	return ""
}

// Hidden reports whether a deny rule for reading applies to the absolute path. Searches and
// suggestions omit such files.
func (p *Policy) Hidden(path string) bool {
	return p.rules.Deny.Reads.Match(p.anchors.Form(filepath.Clean(path)), nil) != nil
}

// Hides reports whether any deny rule for reading exists.
func (p *Policy) Hides() bool { return p.rules.Deny.Reads.Any() != nil }

// DeniedPlaces returns the existing files and directories that deny rules for reading name
// without wildcards, with symlinks resolved.
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

// InCopies returns a path and the paths of the same file in the repository's other working
// copies.
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

// DeniedReads returns the deny rules for reading specific paths, highest precedence first.
func (p *Policy) DeniedReads() []rule.Rule { return p.rules.Deny.Reads.Rules() }
