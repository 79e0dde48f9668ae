package permission

import (
	"slices"
	"strings"

	"adze/internal/permission/reminder"
	"adze/internal/permission/rule"
	"adze/internal/platform/bell"
)

// A WorkerConfig is what makes the gate of an agent differ from that of the conversation that it works for.
type WorkerConfig struct {
	// Mode is what the agent is defined with; empty means that of the conversation. Only a stricter one counts.
	Mode Mode
	// Dir is where it works, and Dirs are its working directories; empty means those of the conversation.
	Dir  string
	Dirs []string
}

// Worker returns the gate of an agent that works for the conversation of g. It begins with the rules of g. What the user
// grants the agent for the session is the agent's alone; what they grant for good holds for all. What g denies or asks
// about holds for the agent from then on, and so do a stricter mode and what changes in the settings.
func (g *Gate) Worker(c WorkerConfig) *Gate {
	lead := g.Policy()
	s := &State{
		mayBypass: g.mayBypass, noAuto: g.noAuto, defaultMode: g.defaultMode, language: g.language,
		now: lead.cfg, lead: g.State, wanted: c.Mode, heard: lead,
	}
	s.now.Rules = slices.Clone(lead.cfg.Rules)
	s.now.Readable, s.now.Editable, s.now.PlanFile = nil, nil, ""
	if c.Dir != "" {
		s.now.Dir = c.Dir
	}
	if c.Dirs != nil {
		s.now.Dirs, s.now.added = c.Dirs, nil
	}
	if s.now.Mode == Auto {
		s.plan.news = append(s.plan.news, reminder.AutoOn)
	}
	s.follow(withWish(lead.Mode(), c.Mode))
	s.policy = Compile(s.now)
	return &Gate{State: s, say: g.say}
}

// bells returns those that ring when the policy changes: this one, or that of a conversation it works for.
func bells(s *State) (all []*bell.Bell) {
	for ; s != nil; s = s.lead {
		all = append(all, &s.moved)
	}
	return all
}

// obey takes over what the conversation that this one works for denies, asks about and rules out now, and what became of
// the rules of its settings.
func (s *State) obey(lead *Policy) {
	before := s.heard.cfg.Rules
	s.heard = lead
	rules := slices.DeleteFunc(slices.Clone(s.now.Rules), func(r rule.Rule) bool {
		return r.Scope.Writable() && has(before, r) && !has(lead.cfg.Rules, r)
	})
	for _, r := range lead.cfg.Rules {
		if (r.Behavior != Allow || r.Scope.Writable()) && !has(rules, r) {
			rules = append(rules, r)
		}
	}
	s.now.Rules = rules
	s.follow(withWish(lead.Mode(), s.wanted))
	renew(s)
}

func has(rules []rule.Rule, r rule.Rule) bool {
	return slices.ContainsFunc(rules, func(own rule.Rule) bool {
		return own.Behavior == r.Behavior && own.String() == r.String() && own.Scope == r.Scope
	})
}

// follow changes the mode of one that works for another.
func (s *State) follow(m Mode) {
	was := s.now.Mode
	if m == was {
		return
	}
	if m == Plan {
		s.enter()
	} else {
		s.now.Saved = ""
	}
	s.now.Mode = m
	s.plan.changed(was, m)
}

// withWish returns the mode of an agent: that of its lead, or what it is defined with if that is stricter. Empty is no wish.
func withWish(lead, wish Mode) Mode {
	if wish == "" {
		return lead
	}
	return Stricter(lead, wish)
}

// DeniesFor returns the rule that denies calls of a tool with that content alone, such as a type of agents.
func (p *Policy) DeniesFor(names []string, content string) (rule.Rule, bool) {
	for _, r := range p.cfg.Rules {
		if r.Behavior == Deny && p.counts(&r) && slices.Contains(names, r.Tool) && (r.Content == "" || r.Content == "*" || strings.EqualFold(r.Content, content)) {
			return r, true
		}
	}
	return rule.Rule{}, false
}
