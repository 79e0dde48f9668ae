package skills

import (
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/skill"
	"adze/internal/hook"
	"adze/internal/permission/rule"
)

// A grant is a skill running in a turn, with its permissions until the turn ends.
type grant struct {
	skill *skill.Skill
	args  string
	rules []rule.Rule
	hooks []hook.Source
}

// grants holds the skills running in a turn. It is safe for concurrent use.
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

// endTurn revokes all grants.
func (s *grants) endTurn() {
	s.mu.Lock()
	had := s.list
	s.list = nil
	s.mu.Unlock()
	if len(had) > 0 {
		s.apply()
	}
}

// begin adds a grant.
func (s *grants) begin(r *grant) {
	s.mu.Lock()
	s.list = append(s.list, r)
	s.mu.Unlock()
	if len(r.rules)+len(r.hooks) > 0 {
		s.apply()
	}
}

// end revokes one grant.
func (s *grants) end(r *grant) {
	s.mu.Lock()
	s.list = slices.DeleteFunc(s.list, func(x *grant) bool { return x == r })
	s.mu.Unlock()
	s.apply()
}

// apply activates the rules and hooks of the running skills.
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
