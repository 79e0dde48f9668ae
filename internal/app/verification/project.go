package verification

import (
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/scope"
)

// KeepProject keeps a verifier from changing what is in the directories, of which some may be "", whatever its lead may
// do. What it needs goes into a temporary directory.
func KeepProject(g *permission.Gate, dirs []string) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		g.AddRule(rule.Rule{Tool: "Edit", Content: "/**", Base: dir, Behavior: permission.Deny, Scope: scope.Session, File: "the verification agent"})
	}
}
