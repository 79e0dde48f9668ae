package permission

import (
	"strings"

	"adze/internal/platform/scope"
	"adze/internal/platform/shell"
)

// foreignCommand decides about a command in a language that only its tool reads, in the order of [Policy.execute].
// Its zero finding says that the command only reads: what it reads is judged elsewhere.
func (p *Policy) foreignCommand(f *Facts) finding {
	c := f.Foreign
	found := p.foreignRule(&p.deny, f)
	if found.behavior == Deny {
		return found
	}
	if f.Doubt == nil {
		return p.foreignRule(&p.ask, f)
	}
	for _, word := range c.Mentions {
		if found = stricter(found, p.mention(word, c.Packs)); found.behavior == Deny {
			return found
		}
	}
	if found = stricter(found, p.foreignHazards(f)); found.firm {
		return found
	}
	var contents []string
	for _, name := range f.Names {
		for _, r := range p.allow.others[name] {
			if p.counts(r) {
				contents = append(contents, r.Content)
			}
		}
	}
	if c.Covered(contents) {
		return allowed(ByParts, "every part of it is allowed")
	}
	found = asks(ByOther, "no rule allows it, and it is not known to only read: %v", f.Doubt)
	if len(c.Suggest) > 0 {
		u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Local}
		for _, content := range c.Suggest[:min(len(c.Suggest), maxSuggested)] {
			u.Rules = append(u.Rules, RuleValue{Tool: f.Name(), Content: content})
		}
		found.suggest = []Update{u}
	}
	return found
}

// foreignRule tries the rules of a set that denies or asks.
func (p *Policy) foreignRule(s *ruleSet, f *Facts) finding {
	for _, name := range f.Names {
		for _, r := range s.others[name] {
			text, ok := f.Foreign.Suspected(r.Content)
			switch {
			case !ok:
			case r.Behavior == Ask:
				return askedBy(r, text)
			default:
				return deniedBy(r, text)
			}
		}
	}
	return finding{}
}

// foreignHazards looks for what a person has to see, whatever the mode and the allow rules say.
func (p *Policy) foreignHazards(f *Facts) finding {
	c := f.Foreign
	found := p.foreignRule(&p.ask, f)
	if c.Unsure {
		found = stricter(found, unsafe("it is not certain what it removes"))
	}
	var reasons []string
	for _, path := range c.Removes {
		if why := shell.DangerousRemoval(path, p.cfg.Home, p.removalDirs()); why != "" {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) > 0 {
		found = stricter(found, unsafe("%s", strings.Join(reasons, "; ")))
	}
	if p.cfg.Sandbox.On || p.cfg.Sandbox.Missing {
		outside := unsafe("the command is not confined by the sandbox")
		outside.reason.Type = BySandbox
		found = stricter(found, outside)
	}
	if c.Dynamic && p.ruled(f.Names) {
		found = stricter(found, unsafe("which program it runs is known only when it runs, so no rule can be known not to apply"))
	}
	if c.Dynamic && p.guardsFiles() {
		found = stricter(found, unsafe("what it touches is known only when it runs, so no rule can protect anything from it"))
	}
	return found
}

// ruled reports whether a deny or ask rule speaks of some calls of the tool.
func (p *Policy) ruled(names []string) bool {
	for _, name := range names {
		if len(p.deny.others[name])+len(p.ask.others[name]) > 0 {
			return true
		}
	}
	return false
}
