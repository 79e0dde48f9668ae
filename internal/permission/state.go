package permission

import (
	"errors"
	"slices"
	"sync"

	"adze/internal/permission/approval"
	"adze/internal/permission/reminder"
	"adze/internal/permission/rule"
	"adze/internal/permission/tally"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/proc/bell"
	"adze/internal/platform/text/texts"
)

// A State holds the current policy. It changes with the settings, the user's decisions and plan
// mode. It is safe for concurrent use.
type State struct {
	mayBypass   bool
	noAuto      bool
	defaultMode Mode // mode in the user's settings
	language    func() texts.Language
	alone       func() bool // reports whether no one can approve a plan; may be nil

	mu           sync.Mutex
	now          Config // the policy's configuration
	policy       *Policy
	moved        bell.Bell  // rings when the policy changes
	onModeChange func(Mode) // called when an answer or a plan changes the mode; may be nil
	plan         planState

	blocked  tally.Breaker
	approved approval.Classes

	// lead is the lead's state, or nil. Wanted is the mode in the agent's definition, heard the
	// lead's policy currently followed, and inherited the rules at the start.
	lead       *State
	ownMode    Mode
	leadPolicy *Policy
	inherited  []rule.Rule
}

func newState(c GateConfig) *State {
	s := &State{mayBypass: c.MayBypass, noAuto: c.NoAuto, defaultMode: c.DefaultMode, language: c.Language, now: c.Config}
	if s.language == nil {
		s.language = func() texts.Language { return texts.English }
	}
	if c.Lead != nil {
		s.applyRemoteLead(c.Lead)
	}
	switch s.now.Mode {
	case Plan:
		s.enter()
	case Auto:
		s.plan.news = append(s.plan.news, reminder.AutoOn)
	}
	s.policy = s.compile()
	return s
}

// Policy returns the current policy, with rules resolved through the current symlinks.
func (s *State) Policy() *Policy { return inForce(s, (*Policy).stale) }

// standing returns the current policy for questions that apply to all paths: it does not check
// for changed symlinks.
func standing(s *State) *Policy { return inForce(s, func(*Policy) bool { return false }) }

func inForce(s *State, stale func(*Policy) bool) *Policy {
	var lead *Policy
	if s.lead != nil {
		lead = inForce(s.lead, stale)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lead != s.leadPolicy {
		s.applyLead(lead)
	}
	if stale(s.policy) {
		s.policy = s.compile()
	}
	return s.policy
}

// Mode returns the current mode.
func (s *State) Mode() Mode { return standing(s).Mode() }

// Hidden reports whether a deny rule for reading applies to the absolute path.
func (s *State) Hidden(path string) bool {
	s.mu.Lock()
	p := s.policy // a search calls this for thousands of files, after [State.Hides]
	s.mu.Unlock()
	return p.Hidden(path)
}

// Hides reports whether a deny rule hides anything.
func (s *State) Hides() bool { return s.Policy().Hides() }

// change replaces the configuration.
func (s *State) change(f func(Config) Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = f(s.now)
	renew(s)
}

// renew recompiles the policy.
func renew(s *State) {
	s.policy = s.compile()
	s.moved.Ring()
}

// SetRules replaces the rules and directories from settings. It keeps the rules of the session,
// the command line and the running command, and the session's directories.
func (s *State) SetRules(rules []rule.Rule, dirs []string) {
	s.change(func(c Config) Config {
		kept := slices.DeleteFunc(slices.Clone(c.Rules), func(r rule.Rule) bool {
			return r.Scope != scope.Session && r.Scope != scope.CLI && r.Scope != scope.Command
		})
		c.Rules = append(kept, rules...)
		c.Dirs = slices.Concat([]string{c.start()}, dirs, c.added)
		return c
	})
}

// SetDir sets the base for relative paths in calls.
func (s *State) SetDir(dir string) {
	s.change(func(c Config) Config {
		c.Dirs, c.Dir = c.workingDirs(), dir
		return c
	})
}

// Relocate makes root the first working directory and the base for relative paths in calls.
// Left is the directory that root is a copy of, which becomes read-only; empty means that root
// is not a copy.
func (s *State) Relocate(root, left string) {
	s.change(func(c Config) Config {
		c.Copies = nil
		c.enter(rule.Copy{Root: root, Main: left})
		if left == "" {
			c.Copies = nil
		}
		return c
	})
}

// AddRule adds a rule for the rest of the session.
func (s *State) AddRule(r rule.Rule) {
	s.change(func(c Config) Config {
		c.Rules = append(slices.Clone(c.Rules), r)
		return c
	})
}

// SetCommand replaces the running command's rules; its grants end with it.
func (s *State) SetCommand(rules []rule.Rule) {
	s.change(func(c Config) Config {
		kept := slices.DeleteFunc(slices.Clone(c.Rules), func(r rule.Rule) bool { return r.Scope == scope.Command })
		for _, r := range rules {
			r.Behavior, r.Scope, r.Base = Allow, scope.Command, c.start()
			kept = append(kept, r)
		}
		c.Rules = kept
		return c
	})
}

// InternalPaths holds the locations of adze's own files that the model may read and write without
// asking.
type InternalPaths struct {
	Readable, Editable []string
	PlanFile, Scratch  string
}

// SetKept sets the locations of adze's own files that the model may read and write without
// asking.
func (s *State) SetKept(k InternalPaths) {
	s.change(func(c Config) Config {
		c.Readable, c.Editable, c.PlanFile, c.Scratch = k.Readable, k.Editable, k.PlanFile, k.Scratch
		return c
	})
}

// ErrBypass is returned if the session may not use bypass mode.
var ErrBypass = errors.New("the session was not started with --dangerously-skip-permissions or --allow-dangerously-skip-permissions")

// ErrAuto is returned if the settings disable [Auto] mode.
var ErrAuto = errors.New("the settings disable auto mode (permissions.disableAutoMode)")

// Offers reports whether a mode can be chosen.
func (s *State) Offers(m Mode) bool { return (m != Bypass || s.mayBypass) && (m != Auto || !s.noAuto) }

// SetMode sets the mode for later calls.
func (s *State) SetMode(m Mode) error {
	switch {
	case m == Bypass && !s.mayBypass:
		return ErrBypass
	case m == Auto && s.noAuto:
		return ErrAuto
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.now.Mode
	switch {
	case m == Plan && was != Plan:
		s.enter()
	case m != Plan:
		s.now.Saved = ""
	}
	s.now.Mode = m
	s.plan.changed(was, m)
	if m == Auto {
		s.blocked.Reset()
	}
	renew(s)
	return nil
}

// OnMode sets the function called when a user's answer, or entering or leaving plan mode,
// changes the mode.
func (s *State) OnMode(f func(Mode)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onModeChange = f
}

// move changes the mode after an answer.
func (s *State) move(m Mode) error {
	if err := s.SetMode(m); err != nil {
		return err
	}
	s.mu.Lock()
	f := s.onModeChange
	s.mu.Unlock()
	if f != nil {
		f(m)
	}
	return nil
}

// SetSandbox sets the confinement of commands.
func (s *State) SetSandbox(box Sandbox) {
	s.change(func(c Config) Config {
		c.Sandbox = box
		return c
	})
}
