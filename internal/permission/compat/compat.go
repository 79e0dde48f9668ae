// Package compat holds the tool names used in permission rules: adze's own and the ones found
// in other programs' rule files. It is the only package below the tools that knows tools by
// name. A tool without an entry works, because rules for reads, writes, commands and hosts
// apply to any tool's calls.
package compat

import (
	"strings"

	"adze/internal/platform/text/spell"
)

// Rule names that match a call's effects, whichever tool makes it.
const (
	Command = "Bash"     // shell command lines
	Read    = "Read"     // reads of a file
	Edit    = "Edit"     // writes to a file
	Fetch   = "WebFetch" // connections to a host
)

// A Kind selects the interpretation of a rule's content.
type Kind uint8

// The kinds.
const (
	Own     Kind = iota // the tool matches it against the call
	Shell               // a shell command pattern
	Foreign             // a command pattern that the tool matches
	Agent               // an agent name
	Reads               // a pattern for paths read
	Writes              // a pattern for paths written
	Host                // domain:host
)

// KindOf returns the kind of content that rules with this name have.
func KindOf(name string) Kind {
	switch name {
	case Command, "Shell":
		return Shell
	case "PowerShell":
		return Foreign
	case "Agent", "Task":
		return Agent
	case Read, "Glob", "Grep", "LS":
		return Reads
	case Edit, "Write", "NotebookEdit", "MultiEdit":
		return Writes
	case Fetch:
		return Host
	}
	return Own
}

// Paths reports whether the content is a path pattern.
func (k Kind) Paths() bool { return k == Reads || k == Writes }

// Runs reports whether a rule without content allows arbitrary execution: commands or agents.
func (k Kind) Runs() bool { return k == Shell || k == Foreign || k == Agent }

// tools lists the tool names that rules and hooks may use: the tools of this version, specified
// tools that do not exist yet, and names in other programs' files.
const tools = " Bash Shell PowerShell Read Edit Write NotebookEdit Glob Grep Agent Task AskUserQuestion TodoWrite TaskOutput TaskStop " +
	"TaskCreate TaskGet TaskList TaskUpdate EnterPlanMode ExitPlanMode VerifyPlanExecution WebFetch WebSearch LSP Skill Workflow Sleep " +
	"SearchExtraTools ToolSearch ExecuteExtraTool StructuredOutput SendMessage TeamCreate TeamDelete EnterWorktree ExitWorktree " +
	"CronCreate CronDelete CronList ListMcpResources ReadMcpResource Brief DiscoverSkills RemoteTrigger Monitor SendUserFile " +
	"PushNotification SubscribePR WebBrowser Snip CtxInspect ListPeers " +
	"MultiEdit LS NotebookRead TodoRead BashOutput KillShell KillBash SlashCommand ListMcpResourcesTool ReadMcpResourceTool "

// Names returns the tool names that rules and hooks may use, except MCP server tools.
func Names() []string { return strings.Fields(tools) }

// Unknown returns a clause saying that no tool has that name, with a suggestion, or "" if there
// may be one. Servers choose their tools' names.
func Unknown(name string) string {
	switch {
	case strings.Contains(tools, " "+name+" ") || strings.HasPrefix(name, "mcp__"):
		return ""
	case strings.HasPrefix(strings.ToLower(name), "mcp_"):
		return "there is no tool " + name + "; those of a server are called mcp__server__tool"
	}
	if near := spell.Closest(name, Names(), 1); len(near) > 0 {
		return "there is no tool " + name + " (did you mean " + near[0] + "?)"
	}
	return "there is no tool " + name
}

// TakesContent reports whether rules for a known tool can be limited to some of its calls.
func TakesContent(name string) bool {
	return KindOf(name) != Own || name == "Skill" || name == "SlashCommand" || name == "Workflow"
}
