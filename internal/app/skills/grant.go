package skills

import (
	"slices"
	"strings"
	"sync"

	"adze/internal/hook"
	"adze/internal/permission/rule"
	"adze/internal/skill"
)

// A grant is a skill that runs in a turn, with what it was given until the end of it.
type grant struct {
	skill *skill.Skill
	args  string
	rules []rule.Rule
	hooks []hook.Source
}

// grants are the skills that run in a turn. They are safe for concurrent use.
type grants struct {
	cfg *Config

	mu   sync.Mutex
	list []*grant
}

// running reports whether a skill runs with these arguments.
func (s *grants) running(k *skill.Skill, args string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list, func(r *grant) bool {
		return r.skill.Name == k.Name && strings.TrimSpace(r.args) == strings.TrimSpace(args)
	})
}

// endTurn takes back what skills were given.
func (s *grants) endTurn() {
	s.mu.Lock()
	had := s.list
	s.list = nil
	s.mu.Unlock()
	if len(had) > 0 {
		s.apply()
	}
}

// begin gives a skill what it asks for.
func (s *grants) begin(r *grant) {
	s.mu.Lock()
	s.list = append(s.list, r)
	s.mu.Unlock()
	if len(r.rules)+len(r.hooks) > 0 {
		s.apply()
	}
}

// end takes back what one skill was given.
func (s *grants) end(r *grant) {
	s.mu.Lock()
	s.list = slices.DeleteFunc(s.list, func(x *grant) bool { return x == r })
	s.mu.Unlock()
	s.apply()
}

// apply puts the rules and hooks of the skills that run in force.
func (s *grants) apply() {
	s.mu.Lock()
	var rules []rule.Rule
	var hooks []hook.Source
	for _, r := range s.list {
		rules, hooks = append(rules, r.rules...), append(hooks, r.hooks...)
	}
	s.mu.Unlock()
	s.cfg.Gate.SetCommand(rules)
	if s.cfg.SetHooks == nil {
		return
	}
	for _, p := range s.cfg.SetHooks(hooks) {
		s.cfg.Say(p.Error())
	}
}
