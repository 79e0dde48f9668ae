package permission

import (
	"errors"
	"slices"
	"sync"

	"adze/internal/permission/approval"
	"adze/internal/permission/reminder"
	"adze/internal/permission/rule"
	"adze/internal/permission/tally"
	"adze/internal/platform/bell"
	"adze/internal/platform/scope"
	"adze/internal/platform/texts"
)

// A State is the policy in force. It changes with settings, with what the user decides, and with plan
// mode. It is safe for concurrent use.
type State struct {
	mayBypass   bool
	noAuto      bool
	defaultMode Mode // of the user's settings
	language    func() texts.Language
	alone       func() bool // reports that no one can approve a plan; may be nil

	mu     sync.Mutex
	now    Config // what the policy is made of
	policy *Policy
	moved  bell.Bell  // rings when the policy changes
	moding func(Mode) // called when an answer or a plan changes the mode; may be nil
	plan   planning

	blocked  tally.Breaker
	approved approval.Classes

	// lead is the state of the conversation that this one works for; nil if it works for none. Wanted is the mode that its
	// agent is defined with, heard the lead's policy that it follows now, and inherited the rules that it began with.
	lead      *State
	wanted    Mode
	heard     *Policy
	inherited []rule.Rule
}

func newState(c GateConfig) *State {
	s := &State{mayBypass: c.MayBypass, noAuto: c.NoAuto, defaultMode: c.DefaultMode, language: c.Language, now: c.Config}
	if s.language == nil {
		s.language = func() texts.Language { return texts.English }
	}
	if c.Lead != nil {
		s.obeyIn(c.Lead)
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

// Policy returns the policy in force. Rules speak of where links lead now.
func (s *State) Policy() *Policy { return inForce(s, (*Policy).stale) }

// standing returns the policy in force, for what it says of all paths: links are not looked at.
func standing(s *State) *Policy { return inForce(s, func(*Policy) bool { return false }) }

func inForce(s *State, stale func(*Policy) bool) *Policy {
	var lead *Policy
	if s.lead != nil {
		lead = inForce(s.lead, stale)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lead != s.heard {
		s.obey(lead)
	}
	if stale(s.policy) {
		s.policy = s.compile()
	}
	return s.policy
}

// Mode returns the mode in force.
func (s *State) Mode() Mode { return standing(s).Mode() }

// Hidden reports whether a deny rule for reading speaks of the absolute path.
func (s *State) Hidden(path string) bool {
	s.mu.Lock()
	p := s.policy // a search asks about thousands of files: [State.Hides] came before
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

// renew makes the policy of the configuration.
func renew(s *State) {
	s.policy = s.compile()
	s.moved.Ring()
}

// SetRules replaces the rules and directories that come from settings; the rules of the session and of
// the command line stay, and the directories of the session.
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

// SetDir says where relative paths of calls begin from now on.
func (s *State) SetDir(dir string) {
	s.change(func(c Config) Config {
		c.Dirs, c.Dir = c.workingDirs(), dir
		return c
	})
}

// Relocate makes root the first of the working directories, and where relative paths of calls begin. Left is the directory that
// root is a copy of, which cannot be written from now on; empty means that root is no copy.
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

// SetCommand replaces the rules of the command that runs: what it grants ends with it.
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

// Kept is where adze keeps what the model may read and write by itself.
type Kept struct {
	Readable, Editable []string
	PlanFile, Scratch  string
}

// SetKept says where adze keeps what the model may read and write by itself.
func (s *State) SetKept(k Kept) {
	s.change(func(c Config) Config {
		c.Readable, c.Editable, c.PlanFile, c.Scratch = k.Readable, k.Editable, k.PlanFile, k.Scratch
		return c
	})
}

// ErrBypass says that the session may not stop asking.
var ErrBypass = errors.New("the session was not started with --dangerously-skip-permissions or --allow-dangerously-skip-permissions")

// ErrAuto says that the settings rule out the mode [Auto].
var ErrAuto = errors.New("the settings rule out the permission mode auto (permissions.disableAutoMode)")

// Offers reports whether a mode can be chosen.
func (s *State) Offers(m Mode) bool { return (m != Bypass || s.mayBypass) && (m != Auto || !s.noAuto) }

// SetMode changes the mode of the calls to come.
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

// OnMode sets the function that is called when an answer of the user, or entering or leaving plan mode, changes the mode.
func (s *State) OnMode(f func(Mode)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moding = f
}

// move changes the mode on an answer.
func (s *State) move(m Mode) error {
	if err := s.SetMode(m); err != nil {
		return err
	}
	s.mu.Lock()
	f := s.moding
	s.mu.Unlock()
	if f != nil {
		f(m)
	}
	return nil
}

// SetSandbox says what confines commands from now on.
func (s *State) SetSandbox(box Sandbox) {
	s.change(func(c Config) Config {
		c.Sandbox = box
		return c
	})
}
