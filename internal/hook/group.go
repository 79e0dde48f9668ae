package hook

import (
	"bytes"
	"slices"
)

// A group holds a source's hooks. A plugin's hooks are parsed only for an event whose name
// occurs in its JSON: a user can have hundreds of plugins, and most sessions need few of their
// hooks.
type group struct {
	source Source
	read   bool
	hooks  []*hook
}

// escapesLetter reports whether JSON contains an escaped letter, so that an event name, which
// consists of ASCII letters, may not be found by searching.
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

// fill parses a group's hooks and returns their problems. The caller holds mu or has exclusive
// access to the group.
func (r *registry) fill(g *group) []Problem {
	if g.read {
		return nil
	}
	g.read = true
	specs, problems := parse(&g.source)
	g.hooks = r.made(specs)
	return problems
}

// hooksOf returns all hooks that may be for an event, or all hooks if n is empty, in
// configuration order. It reports problems in newly parsed hooks. A lead's hooks that can deny
// a call come first: they also limit its agents.
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
	if lead == nil || n != PreToolUse && n != PermissionRequest { // otherwise the lead has them
		host, _ := r.hosted()
		all = append(all, host...)
	}
	for _, p := range problems {
		r.late(p)
	}
	return all
}
