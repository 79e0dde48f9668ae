package permission

import (
	"strings"

	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/shell"
)

// maxSuggested limits the number of rules proposed for one command. For other calls,
// [shell.Script.Suggest] limits them.
const maxSuggested = 5

// A foreignCheck decides about a command in a language that only its tool can parse.
type foreignCheck struct{ pathCheck }

// decide checks the command in the order of [commandCheck.execute]. A zero finding means that
// the command only reads; the reads are judged elsewhere.
func (c foreignCheck) decide() finding {
	cmd := c.f.Foreign
	found := c.matched(&c.rules.Deny)
	if found.behavior == Deny {
		return found
	}
	if c.f.Doubt == nil {
		return c.matched(&c.rules.Ask)
	}
	for _, word := range cmd.Mentions {
		if found = stricter(found, c.mention(word, cmd.Packs)); found.behavior == Deny {
			return found
		}
	}
	if found = stricter(found, c.hazards()); found.firm {
		return found
	}
	var contents []string
	for _, name := range c.f.Names {
		for _, r := range c.rules.Allow.Others(name) {
			if c.covers(r) {
				contents = append(contents, r.Content)
			}
		}
	}
	if cmd.Covered(contents) {
		return allow(Reason{Kind: PartsAllowed})
	}
	found = ask(Reason{Kind: Unapproved, Doubt: c.f.Doubt})
	if len(cmd.Suggest) > 0 {
		u := Update{Type: AddRules, Behavior: Allow, Destination: scope.Local}
		for _, content := range cmd.Suggest[:min(len(cmd.Suggest), maxSuggested)] {
			u.Rules = append(u.Rules, RuleValue{Tool: c.f.Name(), Content: content})
		}
		found.suggest = []Update{u}
	}
	return found
}

// matched applies the rules of a deny or ask set.
func (c foreignCheck) matched(s *rule.Set) finding {
	for _, name := range c.f.Names {
		for _, r := range s.Others(name) {
			text, ok := c.f.Foreign.Suspected(r.Content)
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

// hazards looks for actions that the user must confirm, regardless of mode and allow rules.
func (c foreignCheck) hazards() finding {
	cmd := c.f.Foreign
	found := c.matched(&c.rules.Ask)
	if cmd.Unsure {
		found = stricter(found, confirm(Reason{Kind: UncertainRemoval}))
	}
	var reasons []string
	for _, path := range cmd.Removes {
		if why := shell.DangerousRemoval(path, c.cfg.Home, c.cfg.removalDirs()); why != "" {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) > 0 {
		found = stricter(found, confirm(Reason{Kind: Removal, Text: strings.Join(reasons, "; ")}))
	}
	if c.cfg.Sandbox.On || c.cfg.Sandbox.Missing {
		found = stricter(found, confirm(Reason{Kind: SandboxLacking}))
	}
	if cmd.Dynamic && c.ruled() {
		found = stricter(found, confirm(Reason{Kind: RuntimeProgram}))
	}
	if cmd.Dynamic && c.guardsFiles() {
		found = stricter(found, confirm(Reason{Kind: RuntimeFiles, Write: !c.guards(&Target{})}))
	}
	return found
}

// ruled reports whether a deny or ask rule applies to some of the tool's calls.
func (c foreignCheck) ruled() bool {
	for _, name := range c.f.Names {
		if len(c.rules.Deny.Others(name))+len(c.rules.Ask.Others(name)) > 0 {
			return true
		}
	}
	return false
}
