// Package permission decides which calls may run. One pure function, [Decide], judges what a call
// touches by rules, directories and mode, the same for every tool and every way to call one; the
// [Gate] finds the facts, asks whoever is there to answer, and keeps what they decided. How a command
// is read is left to platform/shell, where settings are kept to their owner, and what a person sees to
// the front ends. Whatever cannot be told is asked about or refused.
package permission

import (
	"fmt"

	"adze/internal/permission/compat"
	"adze/internal/platform/scope"
)

// Decide says what becomes of a call. The order of its steps is the specification's: what denies comes
// first, then what a person has to see, then the mode, then what allows.
func Decide(p *Policy, f Facts) Decision {
	d := Decision{NeedsPerson: f.NeedsPerson, ReadOnly: f.readOnly()}
	found := p.decide(&f, &d)
	d.Behavior, d.Reason, d.BlockedPath = found.behavior, found.reason, found.path
	d.Firm = found.behavior == Ask && found.firm
	if d.Behavior == Ask {
		d.Suggestions = p.suggestions(&f, found)
	}
	if d.Behavior != Allow {
		d.Message = d.message(f.Name())
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

func (p *Policy) decide(f *Facts, d *Decision) finding {
	if r := p.deny.wholeTool(f.Names); r != nil { // step 2
		return deniedBy(r, f.Name())
	}
	found := p.atLeast(f) // step 3
	checked := p.check(f, d)
	if checked.behavior == Deny { // step 4
		return checked
	}
	if f.NeedsPerson {
		found = stricter(found, finding{behavior: Ask, firm: true, reason: Reason{Type: ByOther, Text: "only a person can answer this"}})
	}
	if found.behavior == "" || checked.firm {
		found = checked
	}
	if planned, ok := p.planning(f, found); ok { // step 5
		return planned
	}
	if found.behavior == Allow {
		return found
	}
	if !found.firm {
		if p.cfg.Mode == Bypass {
			return finding{behavior: Allow, reason: Reason{Type: ByMode, Mode: Bypass, Text: "the mode allows everything that no rule denies and no check asks about"}}
		}
		if f.HookAllow != "" { // step 6
			return allowed(ByHook, "the hook "+f.HookAllow+" allows it")
		}
		if r := p.allow.wholeTool(f.Names); r != nil && p.counts(r) {
			return allowedBy(r)
		}
	}
	if found.behavior == "" { // step 7
		found = asks(ByOther, "no rule allows %s", f.Name())
	}
	if p.cfg.Mode == DontAsk { // step 8
		return finding{behavior: Deny, path: found.path, reason: Reason{Type: ByMode, Mode: DontAsk,
			Text: fmt.Sprintf("in mode %s nobody is asked, and %s", DontAsk, found.reason.Text)}}
	}
	return found
}

// atLeast returns the ask that nothing but a deny goes beyond: of a rule for the whole tool, of a rule
// that cannot be read, or of a hook.
func (p *Policy) atLeast(f *Facts) finding {
	if r := p.ask.wholeTool(f.Names); r != nil {
		return askedBy(r, f.Name())
	}
	for _, s := range []*ruleSet{&p.deny, &p.ask} {
		if r := s.nameless; r != nil && !f.readOnly() {
			return askedBy(r, "every call that may change something")
		}
	}
	if f.HookAsk != "" {
		return finding{behavior: Ask, firm: true, reason: Reason{Type: ByHook, Text: f.HookAsk}}
	}
	return finding{}
}

// planning decides about calls in plan mode, if it is in force.
func (p *Policy) planning(f *Facts, found finding) (finding, bool) {
	if p.cfg.Mode != Plan || p.admits(f) {
		return finding{}, false
	}
	reason := Reason{Type: ByMode, Mode: Plan, Text: fmt.Sprintf(
		"in plan mode only calls that change nothing are made, and this call of %s may change something; finish the plan and present it with ExitPlanMode", f.Name())}
	if p.cfg.Saved == Bypass {
		return finding{behavior: Ask, firm: true, reason: reason, path: found.path}, true
	}
	return finding{behavior: Deny, reason: reason, path: found.path}, true
}

// admits reports whether a call may be made while planning.
func (p *Policy) admits(f *Facts) bool {
	if f.readOnly() || f.Planning {
		return true
	}
	if f.Command != nil || len(f.Targets) == 0 || len(f.Hosts) > 0 {
		return false
	}
	for i := range f.Targets {
		if t := &f.Targets[i]; t.Write && (len(p.known().plan) == 0 || !inside(p.known().plan, t.names)) {
			return false
		}
	}
	return true
}

// classifies reports whether a classifier answers what would be asked, now or after planning.
func (p *Policy) classifies() bool {
	return p.cfg.Mode == Auto || p.cfg.Mode == Plan && p.cfg.Saved == Auto
}

// check is step 4: what the call touches. Its zero finding has no opinion.
func (p *Policy) check(f *Facts, d *Decision) finding {
	found := p.contents(f)
	if found.behavior == Deny {
		return found
	}
	touched := finding{behavior: Allow}
	for i := range f.Targets {
		t := &f.Targets[i]
		judged := p.judge(f, t)
		d.Paths = append(d.Paths, t.result(judged))
		touched = worse(touched, judged)
	}
	for _, host := range f.Hosts {
		touched = worse(touched, p.connect(host))
	}
	if f.Command != nil {
		touched = worse(touched, p.execute(f, d))
	}
	switch {
	case found.behavior == Ask || touched.behavior == Deny:
		return stricter(touched, found)
	case len(f.Targets) > 0 || len(f.Hosts) > 0 || f.Command != nil:
		if touched.behavior == Ask && !touched.firm && found.behavior == Allow {
			return found
		}
		return touched
	case found.behavior == Allow:
		return found
	case f.ReadOnly && f.Origin == "":
		return allowed(ByReadOnly, "the call changes nothing")
	case f.Planning && f.Origin == "":
		return allowed(ByOther, "the call changes nothing but lists of adze's own")
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

// contents tries the rules whose content the tool itself compares with the call. A tool that cannot
// compare is denied or asked about as a whole, and never allowed.
func (p *Policy) contents(f *Facts) finding {
	if f.Foreign != nil {
		return p.foreignCommand(f)
	}
	for _, s := range []*ruleSet{&p.deny, &p.ask, &p.allow} {
		for _, name := range f.Names {
			for _, r := range s.others[name] {
				matched := r.Behavior != Allow
				if f.Matcher != nil {
					ok, err := f.Matcher(r.Content)
					matched = ok && (err == nil || r.Behavior != Allow)
				}
				if !matched || r.Behavior == Allow && !p.counts(r) {
					continue
				}
				switch r.Behavior {
				case Deny:
					return deniedBy(r, f.Name())
				case Ask:
					return askedBy(r, f.Name())
				}
				return allowedBy(r)
			}
		}
	}
	return finding{}
}

// connect decides about a host. One that cannot be told is covered by no allow rule, and by every
// other.
func (p *Policy) connect(host string) finding {
	find := func(s *ruleSet) *Rule {
		if host == "" {
			return s.domains.any()
		}
		return s.domains.match(host)
	}
	if r := find(&p.deny); r != nil {
		return deniedBy(r, "connecting to "+host)
	}
	if r := find(&p.ask); r != nil {
		return askedBy(r, "connecting to "+host)
	}
	if host == "" {
		return asks(ByOther, "what it connects to cannot be told")
	}
	if r := p.allow.domains.match(host); r != nil {
		return allowedBy(r)
	}
	found := asks(ByOther, "no rule allows connecting to %s", host)
	found.suggest = []Update{{Type: AddRules, Behavior: Allow, Destination: scope.Local,
		Rules: []RuleValue{{Tool: compat.Fetch, Content: "domain:" + host}}}}
	return found
}

// suggestions returns what the person is offered with the question.
func (p *Policy) suggestions(f *Facts, found finding) []Update {
	if found.firm || f.NeedsPerson {
		return nil
	}
	if len(found.suggest) > 0 || f.Command != nil {
		return found.suggest
	}
	return []Update{{Type: AddRules, Behavior: Allow, Destination: scope.Local, Rules: []RuleValue{{Tool: f.Name()}}}}
}
