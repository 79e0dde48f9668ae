package agentdef

import (
	"slices"
	"strings"

	"adze/internal/permission/compat"
	"adze/internal/tool"
)

// agentTool launches agents; oldAgentTool is its name in other programs' files.
const (
	agentTool    = "Agent"
	oldAgentTool = "Task"
	exitPlan     = "ExitPlanMode"
	planMode     = "plan"
	serverPrefix = "mcp__"
)

// Allows reports whether an agent with this definition gets a tool with the given traits. If
// background is true, the agent runs in the background, where it can't prompt.
func (d *Definition) Allows(name string, t *tool.Traits, background bool) bool {
	name = compat.Canonical(name)
	if names(d.Disallowed, name) {
		return false
	}
	if strings.HasPrefix(name, serverPrefix) {
		return true
	}
	switch {
	case name == exitPlan && d.Mode == planMode:
	case t.MainOnly:
		return false
	case name == agentTool: // only if named, so that agents do not launch agents by default
		return !background && slices.ContainsFunc(d.Tools, launches)
	}
	if background && !t.Background {
		return false
	}
	return d.Tools == nil || names(d.Tools, name)
}

// Creates reports whether an agent with this definition can create files, given the tools that do.
func (d *Definition) Creates(tools []string) bool {
	return d.Mode != planMode && slices.ContainsFunc(tools, d.Offers)
}

// Offers reports whether the main conversation has a tool while an agent with this definition
// runs it. The restrictions on sub-agents do not apply there.
func (d *Definition) Offers(tool string) bool {
	tool = compat.Canonical(tool)
	switch {
	case names(d.Disallowed, tool):
		return false
	case d.Tools == nil || strings.HasPrefix(tool, serverPrefix):
		return true
	}
	return names(d.Tools, tool)
}

// MayLaunch reports whether an agent with this definition may launch agents of a type.
// [Definition.Allows] checks that it has the tool for it.
func (d *Definition) MayLaunch(agent string) bool {
	for _, item := range d.Tools {
		if !launches(item) {
			continue
		}
		_, content, limited := strings.Cut(strings.TrimSuffix(item, ")"), "(")
		if !limited {
			return true
		}
		for name := range strings.SplitSeq(content, ",") {
			if strings.TrimSpace(name) == agent {
				return true
			}
		}
	}
	return false
}

// launches reports whether a list item is the tool that launches agents, alone or with types.
func launches(item string) bool {
	name, _, _ := strings.Cut(item, "(")
	return name == agentTool || name == oldAgentTool
}

// names reports whether a list covers a tool: * covers all, and mcp__server or mcp__server__*
// covers a server's tools.
func names(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(item string) bool {
		if launches(item) {
			return tool == agentTool
		}
		if prefix, open := strings.CutSuffix(item, "*"); open {
			return strings.HasPrefix(tool, prefix)
		}
		return compat.Canonical(item) == tool || strings.HasPrefix(item, serverPrefix) && strings.HasPrefix(tool, item+"__")
	})
}
