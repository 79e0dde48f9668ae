package agentdef

import (
	"slices"
	"strings"
)

// agentTool is the tool that launches agents, by its name and by the one that files of other programs use.
const (
	agentTool    = "Agent"
	oldAgentTool = "Task"
	exitPlan     = "ExitPlanMode"
	planMode     = "plan"
	serverPrefix = "mcp__"
)

// never are the tools that no sub-agent gets: they concern the user, or the main conversation.
func never() []string {
	return []string{"TaskOutput", "EnterPlanMode", exitPlan, "AskUserQuestion", "TaskStop", "Workflow"}
}

// async are the tools that an agent in the background may have, beside those of servers.
func async() []string {
	return []string{
		"Read", "Write", "Edit", "NotebookEdit", "Bash", "PowerShell", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite", "Skill",
		"TaskCreate", "TaskGet", "TaskList", "TaskUpdate",
		"SearchExtraTools", "ExecuteExtraTool", "StructuredOutput", "EnterWorktree", "ExitWorktree",
	}
}

// Allows reports whether an agent with this definition gets a tool. Background says that it runs in the background,
// where it cannot ask.
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
	case tool == agentTool: // only if it is named, so that agents do not launch agents by default
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

// Offers reports whether the main conversation has a tool while an agent with this definition holds it. What sub-agents
// never get does not matter there.
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

// MayLaunch reports whether an agent with this definition may launch those of a type. That it has the tool for it is
// checked by [Definition.Allows].
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

// launches reports whether an item of a list is the tool that launches agents, alone or with types.
func launches(item string) bool {
	name, _, _ := strings.Cut(item, "(")
	return name == agentTool || name == oldAgentTool
}

// names reports whether a list of names speaks of a tool: * of all, and mcp__server, or mcp__server__*, of those of a
// server.
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

// canonical returns the name of the tool that files call by an older one.
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
