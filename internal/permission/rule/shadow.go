package rule

import (
	"strings"

	"adze/internal/permission/compat"
)

// Shadowed returns the rules that never take effect, by index in [Table.Rules], each with the
// stricter rule that covers it.
func (t *Table) Shadowed() map[int]Rule {
	found := map[int]Rule{}
	for i, r := range t.rules {
		if r.broken != nil || r.Behavior == Deny {
			continue
		}
		for _, by := range t.rules {
			stricter := by.Behavior == Deny || by.Behavior == Ask && r.Behavior == Allow
			if stricter && by.shadows(r) {
				found[i] = *by
				break
			}
		}
	}
	return found
}

// shadows reports whether r applies to everything that o applies to.
func (r *Rule) shadows(o *Rule) bool {
	named := false
	for name := range servers(o.Tool) {
		named = named || name == r.Tool
	}
	if r.kind() == compat.Writes && o.kind() == compat.Writes && r.Content != "" {
		named = true // denying one way to write a file denies the others
	}
	switch {
	case !named:
		return false
	case r.Content == "":
		return true
	case r.Content == o.Content:
		return r.Base == o.Base || !r.kind().Paths()
	case r.kind() == compat.Shell:
		prefix, ok := commandPrefix(r.Content)
		text, _ := commandPrefix(o.Content)
		return ok && (text == prefix || strings.HasPrefix(text, prefix+" "))
	case r.kind().Paths():
		dir, ok := strings.CutSuffix(r.Content, "/**")
		return ok && r.Base == o.Base && strings.HasPrefix(o.Content, dir+"/")
	}
	return false
}

// commandPrefix returns the literal words at the start of a pattern, and whether anything may
// follow them.
func commandPrefix(content string) (prefix string, open bool) {
	for _, suffix := range []string{":*", " *"} {
		if rest, ok := strings.CutSuffix(content, suffix); ok && !strings.Contains(rest, "*") {
			return strings.TrimSpace(rest), true
		}
	}
	return content, false
}
