// Package confine is the sandbox policy of a conversation: which commands are confined, where they may
// write, what is hidden from them, which hosts they reach, and whether a confined command is still asked
// about. The sandbox itself is platform/sandbox; the decision about a call is permission's.
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

// A Config is what a confinement is made of.
type Config struct {
	Settings Settings
	// Dir is the directory that the conversation was started in, Home the user's home; it may be empty.
	Dir, Home string
	// Say tells the user something.
	Say func(string)
	// Quarantine is the directory for what appears under protected names while commands run; see
	// [sandbox.Config].
	Quarantine string
	// Keys is the file with the user's API keys, which commands cannot read wherever it is; it may be empty.
	Keys string
	// Git returns the places from which git takes hooks and settings in a directory; see [gitrepo.Judge.Obeyed]. Nil means
	// that none are known.
	Git func(dir string) []string
	// Probe shares the sandbox's test with other conversations; it may be nil.
	Probe *sandbox.Probe
}

// A Gate is what a confinement needs of the permission gate, which is a [*permission.Gate].
type Gate interface {
	// Policy returns the rules and directories in force.
	Policy() *permission.Policy
	// SetSandbox is told what confines commands.
	SetSandbox(permission.Sandbox)
	// Asks reports whether there is a user to ask.
	Asks() bool
	// Reach asks the user whether commands may reach a host.
	Reach(ctx context.Context, host string) bool
}

// A Confinement is the sandbox of a conversation, switched on or not. Its settings may change: a change
// counts for the commands to come. A nil Confinement is one that is switched off.
//
// The gate comes after it, by [Confinement.Attach], since the mode of the gate may depend on whether
// commands are confined.
type Confinement struct {
	paths
	box   *sandbox.Sandbox
	say   func(string)
	ctx   context.Context // of the session
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

// sources are what a confinement follows: the settings and the rules of the gate.
type sources struct {
	settings atomic.Pointer[Settings]
	gate     Gate // nil before there is one
}

// New returns the confinement of c. The sandbox is tested when it is needed for the first time.
func New(c Config) *Confinement {
	f := &Confinement{say: c.Say, ctx: context.Background(), paths: paths{new(sources), c.Dir, c.Home, c.Keys, c.Git}, quarantine: c.Quarantine}
	f.settings.Store(&c.Settings)
	f.report(new(Settings))
	p, h := &f.paths, &hosts{f.sources}
	f.box = sandbox.New(sandbox.Config{
		Roots: p.roots, Home: c.Home, Probe: c.Probe, Write: p.writable, ReadOnly: p.readOnly, Hidden: p.hidden,
		Quarantine: c.Quarantine, Appeared: func(s sandbox.Stray) { f.say(s.String()) },
		Network: sandbox.Network{On: h.reachable, Allow: h.allowed, Deny: h.denied, Judge: h.judge, Ask: h.ask},
	})
	f.probe = f.box.Tier
	return f
}

// Attach makes the rules of the gate count, and tells it what confines commands. It is called before the
// first command.
func (f *Confinement) Attach(g Gate) {
	f.gate = g
	f.tell()
}

// Begin withdraws questions about hosts when ctx is done. It is called before the first command.
func (f *Confinement) Begin(ctx context.Context) { f.ctx = ctx }

// Close removes what the sandbox has made. No command runs any more.
func (f *Confinement) Close() { f.box.Close() }

// Reload makes s the settings for the commands to come.
func (f *Confinement) Reload(s Settings) {
	f.report(f.settings.Swap(&s))
	f.tell()
}

// report tells the user about wrong entries in the settings that are new since before.
func (f *Confinement) report(before *Settings) {
	for _, problem := range f.settings.Load().problems(before) {
		f.say(problem)
	}
}

// On reports whether the settings switch the sandbox on.
func (f *Confinement) On() bool { return f != nil && f.settings.Load().Enabled }

// Ready tests the sandbox if it is switched on and has not been tested, and tells the gate the result.
func (f *Confinement) Ready() {
	if f.On() {
		f.test()
	}
}

// InForce reports whether commands are confined. It tests the sandbox.
func (f *Confinement) InForce() bool { return f.On() && f.test().problem == nil }

// Protects reports whether a sandbox works here that would make questions about commands needless. It tests the
// sandbox, switched on or not.
func (f *Confinement) Protects() bool {
	tier, err := f.probe()
	return err == nil && tier.Protects()
}

// Check returns an error if the settings require a sandbox and none works. It tests a required sandbox.
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
			f.say(fmt.Sprintf("the sandbox is switched on, but %v. Commands run without it, and each one that does more than read is asked about", problem))
		}
		f.tell()
	})
	return *f.tested.Load()
}

// tell tells the gate what confines commands, as far as it is known.
func (f *Confinement) tell() {
	if f.gate == nil {
		return
	}
	was, is := f.gate.Policy().Config().Sandbox, f.State()
	if was.On != is.On || was.AutoAllow != is.AutoAllow || was.Missing != is.Missing || !slices.Equal(was.Excluded, is.Excluded) {
		f.gate.SetSandbox(is)
	}
}

// State returns what the permission check has to know. It does not test the sandbox.
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

// autoAllow reports whether commands in a sandbox of the tier are not asked about. A tier that cannot
// protect names such as .git is no reason not to ask.
func (s *Settings) autoAllow(t sandbox.Tier) bool { return s.AutoAllow && t.Protects() }
