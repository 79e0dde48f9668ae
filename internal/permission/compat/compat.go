// Package compat holds the names that stand for tools in permission rules: ours, and those that rule files
// of other programs use. Below the tools it is the only place that knows a tool by its name; a tool that is
// not in it needs no entry, since rules for reading, writing, commands and hosts speak of what a call does,
// whichever tool makes it.
package compat

import (
	"strings"

	"adze/internal/platform/spell"
)

// Names of rules that speak of what a call does, whichever tool makes it.
const (
	Command = "Bash"     // lines of shell
	Read    = "Read"     // reading a file
	Edit    = "Edit"     // writing a file
	Fetch   = "WebFetch" // connecting to a host
)

// A Kind is what the content of a rule means.
type Kind uint8

// The kinds.
const (
	Own     Kind = iota // the tool compares it with the call
	Shell               // a pattern of lines of shell
	Foreign             // a pattern of commands that the tool compares
	Agent               // the name of an agent
	Reads               // a pattern of paths that are read
	Writes              // a pattern of paths that are written
	Host                // domain:host
)

// KindOf returns what the content of rules with this name means.
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

// Paths reports whether the content is a pattern of paths.
func (k Kind) Paths() bool { return k == Reads || k == Writes }

// Runs reports whether a rule without content lets its calls do anything: run commands or agents.
func (k Kind) Runs() bool { return k == Shell || k == Foreign || k == Agent }

// tools are the names of tools that rules and hooks may speak of: those of this version, those that are
// specified and still to come, and those that files of other programs use.
const tools = " Bash Shell PowerShell Read Edit Write NotebookEdit Glob Grep Agent Task AskUserQuestion TodoWrite TaskOutput TaskStop " +
	"TaskCreate TaskGet TaskList TaskUpdate EnterPlanMode ExitPlanMode VerifyPlanExecution WebFetch WebSearch LSP Skill Workflow Sleep " +
	"SearchExtraTools ToolSearch ExecuteExtraTool StructuredOutput SendMessage TeamCreate TeamDelete EnterWorktree ExitWorktree " +
	"CronCreate CronDelete CronList ListMcpResources ReadMcpResource Brief DiscoverSkills RemoteTrigger Monitor SendUserFile " +
	"PushNotification SubscribePR WebBrowser Snip CtxInspect ListPeers " +
	"MultiEdit LS NotebookRead TodoRead BashOutput KillShell KillBash SlashCommand ListMcpResourcesTool ReadMcpResourceTool "

// Names returns the names of tools that rules and hooks may speak of, without those of servers.
func Names() []string { return strings.Fields(tools) }

// Unknown returns, as a sentence without its end, that there is no tool of that name and which one may have
// been meant; empty if there may be one. Servers name their tools themselves.
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

// TakesContent reports whether rules for a tool that is known can speak of some of its calls only.
func TakesContent(name string) bool {
	return KindOf(name) != Own || name == "Skill" || name == "SlashCommand" || name == "Workflow"
}
