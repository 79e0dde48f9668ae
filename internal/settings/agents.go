package settings

import (
	"encoding/json"
	"path/filepath"

	"adze/internal/domain/agentdef"
	"adze/internal/platform/fs/trust"
)

// agentsIn returns the agent definitions in a workspace.
func agentsIn(t *Trust) []*agentdef.Definition {
	var roots []agentdef.Root
	for _, dir := range t.roots() {
		for _, folder := range []string{".adze", ".claude"} {
			root := agentdef.Root{Path: filepath.Join(dir, folder, "agents"), Source: agentdef.Source{Kind: agentdef.Project}, Within: t.Root}
			roots = append(roots, agentdef.WithFolders(root)...)
		}
	}
	set := agentdef.NewLibrary(agentdef.Config{Roots: func() []agentdef.Root { return roots }}).Set()
	all := set.Definitions
	for _, s := range set.Shadowed {
		all = append(all, s.Definition)
	}
	return all
}

// AgentItems returns the parts of a project agent that the user approves by content: its hooks
// and its own servers. Other agents need no approval.
func AgentItems(d *agentdef.Definition) []trust.Item {
	if d.Source.Kind != agentdef.Project {
		return nil
	}
	items := hookItems(d.Hooks)
	own := map[string]json.RawMessage{}
	for _, s := range d.Servers {
		if s.Config != nil {
			own[s.Name] = s.Config
		}
	}
	if len(own) == 0 {
		return items
	}
	servers, _ := json.Marshal(own) // ok: they were read from JSON
	return append(items, serverItems(servers)...)
}
