package agentdef

import (
	"slices"
	"strings"
)

// agentTool launches agents; oldAgentTool is its name in other programs' files.
const (
	agentTool    = "Agent"
	oldAgentTool = "Task"
	exitPlan     = "ExitPlanMode"
	planMode     = "plan"
	serverPrefix = "mcp__"
)

// never returns the tools that no sub-agent gets: they concern the user or the main
// conversation.
func never() []string {
	return []string{"TaskOutput", "EnterPlanMode", exitPlan, "AskUserQuestion", "TaskStop", "Workflow"}
}

// async returns the tools that a background agent may have in addition to server tools.
func async() []string {
	return []string{
		"Read", "Write", "Edit", "NotebookEdit", "Bash", "PowerShell", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite", "Skill",
		"TaskCreate", "TaskGet", "TaskList", "TaskUpdate",
		"SearchExtraTools", "ExecuteExtraTool", "StructuredOutput", "EnterWorktree", "ExitWorktree",
	}
}

// Allows reports whether an agent with this definition gets a tool. If background is true, the
// agent runs in the background, where it can't prompt.
func (d *Definition) Allows(tool string, background bool) bool {
	tool = canonical(tool)
	if names(d.Disallowed, tool) {
		return false
	}
	if strings.HasPrefix(tool, serverPrefix) {
		return true
	}
	switch {
	case tool == exitPlan && d.Mode == planMode:
	case slices.Contains(never(), tool):
		return false
	case tool == agentTool: // only if named, so that agents do not launch agents by default
		return !background && slices.ContainsFunc(d.Tools, launches)
	}
	if background && !slices.Contains(async(), tool) {
		return false
	}
	return d.Tools == nil || names(d.Tools, tool)
}

// Creates reports whether an agent with this definition can create files.
func (d *Definition) Creates() bool {
	return d.Mode != planMode && slices.ContainsFunc([]string{"Write", "Bash", "PowerShell"}, d.Offers)
}

// Offers reports whether the main conversation has a tool while an agent with this definition
// runs it. The restrictions on sub-agents do not apply there.
func (d *Definition) Offers(tool string) bool {
	tool = canonical(tool)
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
		return canonical(item) == tool || strings.HasPrefix(item, serverPrefix) && strings.HasPrefix(tool, item+"__")
	})
}

// canonical returns the current name of a tool.
func canonical(name string) string {
	switch name {
	case oldAgentTool:
		return agentTool
	case "Shell":
		return "Bash"
	case "MultiEdit":
		return "Edit"
	case "ToolSearch":
		return "SearchExtraTools"
	case "KillShell":
		return "TaskStop"
	}
	return name
}
