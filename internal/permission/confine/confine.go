// Package confine implements a conversation's sandbox policy: which commands are confined,
// where they may write, which files are hidden from them, which hosts they reach, and whether a
// confined command still needs a prompt.
package confine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"adze/internal/permission"
	"adze/internal/platform/sandbox"
)

// Config configures a Confinement.
type Config struct {
	Settings Settings
	// Dir is the conversation's start directory, Home the user's home; it may be empty.
	Dir, Home string
	// Say shows the user a message.
	Say func(string)
	// Quarantine is the directory for files that appear under protected names while commands
	// run; see [sandbox.Config].
	Quarantine string
	// Own are adze's own directories, which commands can never write.
	Own []string
	// Keys is the file with the user's API keys, which commands can never read; it may be
	// empty.
	Keys string
	// Git returns the places from which git takes hooks and settings for a directory; see
	// [gitrepo.Judge.Obeyed]. Nil means that none are known.
	Git func(dir string) []string
	// Probe shares the sandbox's test with other conversations; it may be nil.
	Probe *sandbox.Probe
}

// A Gate is the part of [*permission.Gate] that a confinement needs.
type Gate interface {
	// Policy returns the current rules and directories.
	Policy() *permission.Policy
	// SetSandbox sets the confinement of commands.
	SetSandbox(permission.Sandbox)
	// Asks reports whether there is a user to ask.
	Asks() bool
	// Reach asks the user whether commands may reach a host.
	Reach(ctx context.Context, host string) bool
}

// A Confinement is a conversation's sandbox, enabled or not. A change of settings applies to
// later commands. A nil Confinement is disabled.
//
// The gate is set later, by [Confinement.Attach], since the gate's mode may depend on whether
// commands are confined.
type Confinement struct {
	paths
	box   *sandbox.Sandbox
	say   func(string)
	ctx   context.Context // the session's context
	probe func() (sandbox.Tier, error)

	quarantine string // may be empty

	once   sync.Once
	tested atomic.Pointer[finding]
}

// A finding is the result of the sandbox's test.
type finding struct {
	tier    sandbox.Tier
	problem error // why commands cannot be confined, or nil
}

// sources holds the settings and the gate that a confinement follows.
type sources struct {
	settings atomic.Pointer[Settings]
	gate     Gate // nil before Attach
}

// New returns a confinement. The sandbox is tested when it is first needed.
func New(c Config) *Confinement {
	f := &Confinement{say: c.Say, ctx: context.Background(), paths: paths{new(sources), c.Dir, c.Home, c.Own, c.Keys, c.Git}, quarantine: c.Quarantine}
	f.settings.Store(&c.Settings)
	f.report(new(Settings))
	p, h := &f.paths, &hosts{f.sources}
	f.box = sandbox.New(sandbox.Config{
		Roots: p.roots, Home: c.Home, Probe: c.Probe, Write: p.writable, ReadOnly: p.readOnly, Hidden: p.hidden, Own: c.Own,
		Quarantine: c.Quarantine, Appeared: func(s sandbox.Stray) { f.say(s.String()) },
		Network: sandbox.Network{On: h.reachable, Allow: h.allowed, Deny: h.denied, Judge: h.judge, Ask: h.ask},
	})
	f.probe = f.box.Tier
	return f
}

// Attach sets the gate, whose rules then apply, and passes it the state of the sandbox. It must
// be called before the first command.
func (f *Confinement) Attach(g Gate) {
	f.gate = g
	f.tell()
}

// Begin sets the context that withdraws questions about hosts when done. It must be called
// before the first command.
func (f *Confinement) Begin(ctx context.Context) { f.ctx = ctx }

// Close removes the sandbox's files. No command may run any more.
func (f *Confinement) Close() { f.box.Close() }

// Reload sets the settings for later commands.
func (f *Confinement) Reload(s Settings) {
	f.report(f.settings.Swap(&s))
	f.tell()
}

// report shows the user invalid settings entries that are new since before.
func (f *Confinement) report(before *Settings) {
	for _, problem := range f.settings.Load().problems(before) {
		f.say(problem)
	}
}

// On reports whether the settings enable the sandbox.
func (f *Confinement) On() bool { return f != nil && f.settings.Load().Enabled }

// Ready tests the sandbox if it is enabled and untested, and passes the result to the gate.
func (f *Confinement) Ready() {
	if f.On() {
		f.test()
	}
}

// InForce reports whether commands are confined. It tests the sandbox.
func (f *Confinement) InForce() bool { return f.On() && f.test().problem == nil }

// Protects reports whether a working sandbox would make prompts about commands unnecessary. It
// tests the sandbox, enabled or not.
func (f *Confinement) Protects() bool {
	tier, err := f.probe()
	return err == nil && tier.Protects()
}

// Check returns an error if the settings require a sandbox and none works. It tests a required
// sandbox.
func (f *Confinement) Check() error {
	if s := f.settings.Load(); s.Enabled && s.Required {
		if problem := f.test().problem; problem != nil {
			return fmt.Errorf("the settings require a sandbox: %w", problem)
		}
	}
	return nil
}

// test tests the sandbox, once.
func (f *Confinement) test() finding {
	f.once.Do(func() {
		tier, problem := f.probe()
		f.tested.Store(&finding{tier, problem})
		if problem != nil && !f.settings.Load().Required {
			f.say(fmt.Sprintf("the sandbox is enabled, but %v. Commands run without it, and adze asks before each one that isn't read-only", problem))
		}
		f.tell()
	})
	return *f.tested.Load()
}

// tell passes the known state of the sandbox to the gate.
func (f *Confinement) tell() {
	if f.gate == nil {
		return
	}
	was, is := f.gate.Policy().Config().Sandbox, f.State()
	if was.On != is.On || was.AutoAllow != is.AutoAllow || was.Missing != is.Missing || !slices.Equal(was.Excluded, is.Excluded) {
		f.gate.SetSandbox(is)
	}
}

// State returns the sandbox's state for the permission check. It does not test the sandbox.
func (f *Confinement) State() permission.Sandbox {
	s, found := f.settings.Load(), f.tested.Load()
	switch {
	case !s.Enabled:
		return permission.Sandbox{}
	case found == nil:
		return permission.Sandbox{Excluded: s.excluded()}
	case found.problem != nil:
		return permission.Sandbox{Missing: true}
	}
	return permission.Sandbox{On: true, AutoAllow: s.autoAllow(found.tier), Excluded: s.excluded()}
}

// autoAllow reports whether commands in a sandbox of the tier need no prompt. A tier that
// cannot protect names such as .git does not remove prompts.
func (s *Settings) autoAllow(t sandbox.Tier) bool { return s.AutoAllow && t.Protects() }
