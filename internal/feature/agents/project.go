package agents

import (
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
)

// KeepProject prevents a verifier from changing files in the directories, some of which may be
// "", regardless of its lead's permissions. It can write to a temporary directory.
func KeepProject(g *permission.Gate, dirs []string) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		g.AddRule(rule.Rule{Tool: "Edit", Content: "/**", Base: dir, Behavior: permission.Deny, Scope: scope.Session, File: "the verification agent"})
	}
}
