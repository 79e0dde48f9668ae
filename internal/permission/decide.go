// Package permission decides which tool calls may run. A pure function, [Decide], judges a
// call's effects by rules, directories and mode, the same way for every tool and caller. The
// [Gate] gathers the facts, asks the user or a host, and stores their decisions. Anything that
// cannot be determined needs confirmation or is denied.
package permission

import (
	"adze/internal/permission/compat"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// Decide returns the decision for a call. The specification fixes the order of its steps:
// denials first, then actions the user must confirm, then the mode, then allow rules.
func Decide(p *Policy, f Facts) Decision {
	d := Decision{NeedsPerson: f.NeedsPerson, ReadOnly: f.readOnly()}
	c := callCheck{pathCheck{p, &f}, &d}
	found := c.decide()
	d.Behavior, d.Reason, d.BlockedPath = found.behavior, found.reason, found.path
	d.Firm = found.behavior == Ask && found.firm
	if d.Behavior == Ask {
		d.Judged = !d.Firm && !d.NeedsPerson && p.cfg.classifies()
		d.Suggestions = c.suggestions(found)
	}
	return d
}

// readOnly reports whether the call is known to change nothing.
func (f *Facts) readOnly() bool {
	if f.Command != nil {
		return f.Command.readOnly()
	}
	return f.ReadOnly
}

// A callCheck decides about one call.
type callCheck struct {
	pathCheck
	d *Decision // receives the verdict on each part and path
}

func (c callCheck) decide() finding {
	if r := c.rules.Deny.Whole(c.f.Names, nil); r != nil { // step 2
		return deniedBy(r, c.f.Name())
	}
	found := c.atLeast() // step 3
	checked := c.check()
	if checked.behavior == Deny { // step 4
		return checked
	}
	if c.f.NeedsPerson {
		found = stricter(found, confirm(Reason{Kind: UserOnly}))
	}
	if found.behavior == "" || checked.firm {
		found = checked
	}
	if planned, ok := c.planning(found); ok { // step 5
		return planned
	}
	if found.behavior == Allow {
		return found
	}
	if !found.firm {
		if c.cfg.Mode == Bypass {
			return allow(Reason{Kind: ModeBypasses, Mode: Bypass})
		}
		if c.f.HookAllow != "" { // step 6
			return allow(Reason{Kind: HookAllows, What: c.f.HookAllow})
		}
		if r := c.rules.Allow.Whole(c.f.Names, c.covers); r != nil {
			return allowedBy(r)
		}
	}
	if found.behavior == "" { // step 7
		found = ask(Reason{Kind: NoRule, What: c.f.Name()})
	}
	if c.cfg.Mode == DontAsk { // step 8
		return finding{behavior: Deny, path: found.path, reason: Reason{Kind: ModeDeniesPrompt, Mode: DontAsk, Cause: &found.reason}}
	}
	return found
}

// atLeast returns an ask that only a deny overrides: from a rule for the whole tool, an
// unreadable rule, or a hook.
func (c callCheck) atLeast() finding {
	if r := c.rules.Ask.Whole(c.f.Names, nil); r != nil {
		return askedBy(r, c.f.Name())
	}
	for _, s := range []*rule.Set{&c.rules.Deny, &c.rules.Ask} {
		if r := s.Nameless; r != nil && (!c.f.readOnly() || c.f.Hinted) {
			return askedBy(r, "any call that may change something")
		}
	}
	if c.f.HookAsk != "" {
		return confirm(Reason{Kind: HookAsks, Text: c.f.HookAsk})
	}
	return finding{}
}

// planning decides about calls if plan mode is active.
func (c callCheck) planning(found finding) (finding, bool) {
	switch {
	case c.cfg.Mode != Plan:
		return finding{}, false
	case c.f.Hinted && c.f.ReadOnly:
		// An allow rule for the tool does not permit changes while planning.
		return finding{behavior: Ask, firm: true, path: found.path, reason: Reason{Kind: PlanDoubts, Mode: Plan, What: c.f.Name()}}, true
	case c.admits():
		return finding{}, false
	}
	reason := Reason{Kind: PlanForbids, Mode: Plan, What: c.f.Name()}
	if c.cfg.Saved == Bypass {
		return finding{behavior: Ask, firm: true, reason: reason, path: found.path}, true
	}
	return finding{behavior: Deny, reason: reason, path: found.path}, true
}

// admits reports whether a call may be made while planning.
func (c callCheck) admits() bool {
	if c.f.readOnly() || c.f.Planning || c.f.Preapproved && len(c.f.Hosts) == 0 && len(c.f.Targets) == 0 && c.f.Command == nil {
		return true
	}
	if c.f.Command != nil || len(c.f.Targets) == 0 || len(c.f.Hosts) > 0 {
		return false
	}
	for i := range c.f.Targets {
		if t := &c.f.Targets[i]; t.Write && (len(c.places().plan) == 0 || !inside(c.places().plan, t.names)) {
			return false
		}
	}
	return true
}

// classifies reports whether a classifier answers permission questions, now or after planning.
func (c *Config) classifies() bool {
	return c.Mode == Auto || c.Mode == Plan && c.Saved == Auto
}

// check is step 4: the call's effects. A zero finding means no opinion.
func (c callCheck) check() finding {
	found := c.contents()
	if found.behavior == Deny {
		return found
	}
	touched := finding{behavior: Allow}
	for i := range c.f.Targets {
		t := &c.f.Targets[i]
		judged := c.judge(t)
		c.d.Paths = append(c.d.Paths, t.result(judged))
		touched = worse(touched, judged)
	}
	for _, host := range c.f.Hosts {
		touched = worse(touched, c.connect(host))
	}
	if c.f.Command != nil {
		touched = worse(touched, commandCheck{c.pathCheck, c.f.Command, c.d}.execute())
	}
	switch {
	case found.behavior == Ask || touched.behavior == Deny:
		return stricter(touched, found)
	case len(c.f.Targets) > 0 || len(c.f.Hosts) > 0 || c.f.Command != nil:
		if touched.behavior == Ask && !touched.firm && found.behavior == Allow {
			return found
		}
		return touched
	case found.behavior == Allow:
		return found
	case c.f.ReadOnly && c.f.Origin == "" && !c.f.OpenWorld:
		return allow(Reason{Kind: CallReads})
	case c.f.Preapproved:
		return allow(Reason{Kind: CallNeedsNothing})
	case c.f.Planning && c.f.Origin == "":
		return allow(Reason{Kind: CallPlans})
	}
	return finding{}
}

// worse returns the stricter of two findings, and the later of two that allow.
func worse(a, b finding) finding {
	if b.weight() >= a.weight() {
		return b
	}
	return a
}

// contents applies the rules whose content the tool itself matches against the call. If the
// tool cannot match, it is denied or asked about as a whole, never allowed.
func (c callCheck) contents() finding {
	if c.f.Foreign != nil {
		return foreignCheck{c.pathCheck}.decide()
	}
	for _, s := range []*rule.Set{&c.rules.Deny, &c.rules.Ask, &c.rules.Allow} {
		for _, name := range c.f.Names {
			for _, r := range s.Others(name) {
				matched := r.Behavior != Allow
				if c.f.Matcher != nil {
					ok, err := c.f.Matcher(r.Content)
					matched = ok && (err == nil || r.Behavior != Allow)
				}
				if !matched || r.Behavior == Allow && !c.covers(r) {
					continue
				}
				switch r.Behavior {
				case Deny:
					return deniedBy(r, c.f.Name())
				case Ask:
					return askedBy(r, c.f.Name())
				}
				return allowedBy(r)
			}
		}
	}
	return finding{}
}

// connect decides about a host. No allow rule covers an unknown host; every other rule does.
func (c callCheck) connect(host string) finding {
	find := func(s *rule.Set) *rule.Rule {
		if host == "" {
			return s.Hosts.Any()
		}
		return s.Hosts.Match(host)
	}
	if r := find(&c.rules.Deny); r != nil {
		return deniedBy(r, "connecting to "+host)
	}
	if r := find(&c.rules.Ask); r != nil {
		return askedBy(r, "connecting to "+host)
	}
	if host == "" {
		return ask(Reason{Kind: HostUnknown})
	}
	if c.f.Preapproved {
		return allow(Reason{Kind: HostPreapproved, What: host})
	}
	if r := c.rules.Allow.Hosts.Match(host); r != nil {
		return allowedBy(r)
	}
	found := ask(Reason{Kind: NoRule, What: "connecting to " + host})
	found.suggest = []Update{{Type: AddRules, Behavior: Allow, Destination: scope.Local,
		Rules: []RuleValue{{Tool: compat.Fetch, Content: "domain:" + rule.WebHost(host)}}}}
	return found
}

// suggestions returns the updates offered to the user with the question.
func (c callCheck) suggestions(found finding) []Update {
	if found.firm || c.f.NeedsPerson {
		return nil
	}
	if len(found.suggest) > 0 || c.f.Command != nil {
		return found.suggest
	}
	name := c.f.Name()
	if len(c.f.Rules) > 0 {
		var all []Update
		for i, content := range c.f.Rules {
			all = append(all, Update{Type: AddRules, Behavior: Allow, Destination: scope.Local, Rules: []RuleValue{{Tool: name, Content: content}}, Wider: i > 0})
		}
		return all
	}
	if last := c.f.Names[len(c.f.Names)-1]; c.f.Origin != "" && tool.CheckName(last) == nil {
		name = last
	}
	return []Update{{Type: AddRules, Behavior: Allow, Destination: scope.Local, Rules: []RuleValue{{Tool: name}}}}
}
