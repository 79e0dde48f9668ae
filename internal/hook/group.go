package hook

import (
	"bytes"
	"slices"
)

// A group is the hooks of one source. Those of a plugin are read when an event comes whose name its JSON holds: a user can
// have hundreds of plugins, and most sessions need the hooks of few.
type group struct {
	source Source
	read   bool
	hooks  []*hook
}

// escapesLetter reports whether a letter is written as a number in a JSON text, which then may have the name of an event in a
// spelling that cannot be found. These names are of ASCII letters.
func escapesLetter(data []byte) bool {
	for {
		_, after, found := bytes.Cut(data, []byte(`\u00`))
		if !found {
			return false
		}
		if len(after) > 0 && '4' <= after[0] && after[0] <= '7' {
			return true
		}
		data = after
	}
}

// fill reads the hooks of a group, and returns what is wrong with them. The caller holds mu, or alone has
// the group.
func (r *registry) fill(g *group) []Problem {
	if g.read {
		return nil
	}
	g.read = true
	specs, problems := parse(&g.source)
	g.hooks = r.made(specs)
	return problems
}

// hooksOf returns all hooks that may be for an event, or all hooks if n is empty, in the order of configuration. What is
// wrong with those that are read for it is told. Hooks of a lead that can deny a call come first: they limit its agents, too.
func (r *registry) hooksOf(n Name) []*hook {
	r.mu.Lock()
	lead, check := r.lead, r.check
	r.mu.Unlock()
	var all []*hook
	if lead != nil && (n == PreToolUse || n == PermissionRequest) {
		all = lead.hooksOf(n)
	}
	if check {
		return slices.DeleteFunc(all, func(h *hook) bool { return h.typ == TypeAgent })
	}
	var problems []Problem
	name := []byte(`"` + n + `"`)
	r.mu.Lock()
	for _, g := range r.settings {
		if !g.read && (n == "" || bytes.Contains(g.source.JSON, name)) {
			problems = append(problems, r.fill(g)...)
		}
		all = append(all, g.hooks...)
	}
	all = append(all, r.turn...)
	r.mu.Unlock()
	if lead == nil || n != PreToolUse && n != PermissionRequest { // else the lead has them
		host, _ := r.hosted()
		all = append(all, host...)
	}
	for _, p := range problems {
		r.late(p)
	}
	return all
}
