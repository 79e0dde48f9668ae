package permission

import (
	"slices"

	"adze/internal/permission/rule"
)

// Limits is the part of a policy that limits child conversations, in a form another process can
// read. In the same process, [Gate.Child] passes it on.
type Limits struct {
	Rules       []rule.Rule `json:"rules"`
	Mode        Mode        `json:"mode"`
	Dirs        []string    `json:"dirs"`            // working directories in order
	Bases       []string    `json:"bases,omitempty"` // bases for relative paths in deny and ask rules
	Copies      []rule.Copy `json:"copies,omitempty"`
	Protected   []string    `json:"protected,omitempty"`
	ManagedOnly bool        `json:"managedOnly,omitempty"`
	MayBypass   bool        `json:"mayBypass,omitempty"`
	NoAuto      bool        `json:"noAuto,omitempty"`
}

// Limits returns the current limits of the conversation.
func (s *State) Limits() Limits {
	c := s.Policy().cfg
	return Limits{
		Rules: c.counting(), Mode: c.Mode, Dirs: c.workingDirs(), Bases: append(slices.Clip(c.bases), c.Dir), Copies: c.Copies, Protected: c.Protected, ManagedOnly: c.ManagedOnly,
		MayBypass: s.mayBypass, NoAuto: s.noAuto,
	}
}

// apply returns c with the rules, mode and directories of the limits.
func (l *Limits) apply(c Config) Config {
	c.Rules, c.Mode, c.Copies, c.ManagedOnly = l.Rules, l.Mode, l.Copies, l.ManagedOnly
	c.Dirs, c.Dir, c.Protected, c.bases = l.Dirs, "", union(c.Protected, l.Protected), l.Bases
	return c
}

// applyRemoteLead makes s the state of a conversation whose lead is in another process.
func (s *State) applyRemoteLead(l *Limits) {
	if l.Mode == "" || len(l.Dirs) == 0 {
		l = &Limits{Mode: Plan, Dirs: s.now.workingDirs()} // limits not written by a lead: nothing is allowed
	}
	s.mayBypass, s.noAuto = s.mayBypass && l.MayBypass, s.noAuto || l.NoAuto
	s.lead = &State{now: l.apply(s.now), mayBypass: l.MayBypass, noAuto: l.NoAuto, language: s.language}
	s.lead.policy = Compile(s.lead.now)
	s.leadPolicy, s.ownMode = s.lead.policy, s.now.Mode
	s.now.Dirs, s.now.Dir, s.now.Copies, s.now.added = slices.Clone(l.Dirs), l.Dirs[0], l.Copies, nil
	s.now.Mode = childMode(l.Mode, s.ownMode)
}

// SetLimits replaces the limits of a conversation whose lead is in another process.
func (s *State) SetLimits(l Limits) {
	if s.lead == nil || l.Mode == "" || len(l.Dirs) == 0 {
		return
	}
	s.lead.change(l.apply)
}
