// Package compat holds the tool names used in permission rules: adze's own, in a generated list, and
// the ones found in other programs' rule files. It is the only package below the tools that knows tools
// by name. A tool without an entry works, because rules for reads, writes, commands and hosts
// apply to any tool's calls.
package compat

import (
	_ "embed" // builtin.txt
	"maps"
	"slices"
	"strings"
	"sync"

	"adze/internal/platform/text/rank"
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

// builtin lists the tools, one per line with its aliases. It is generated from the tools with
// go test ./internal/app/wire -update.
//
//go:embed builtin.txt
var builtin string

// others lists further names that rules and hooks may use: names in other programs' files, and
// specified tools that do not exist yet.
const others = "VerifyPlanExecution Sleep Brief RemoteTrigger SendUserFile PushNotification SubscribePR WebBrowser ListPeers " +
	"MultiEdit LS NotebookRead TodoRead BashOutput KillBash SlashCommand"

// canonical maps every known name to the current one.
var canonical = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(builtin) {
		names := strings.Fields(line)
		for _, name := range names {
			all[name] = names[0]
		}
	}
	for name := range strings.FieldsSeq(others) {
		all[name] = name
	}
	all["MultiEdit"] = Edit
	return all
})

// Canonical returns the current name of the tool with this name or alias. Unknown names are returned
// unchanged.
func Canonical(name string) string {
	if current, ok := canonical()[name]; ok {
		return current
	}
	return name
}

// Names returns the tool names that rules and hooks may use, sorted, except MCP server tools.
func Names() []string { return slices.Sorted(maps.Keys(canonical())) }

// Unknown returns a clause saying that no tool has that name, with a suggestion, or "" if there
// may be one. Servers choose their tools' names.
func Unknown(name string) string {
	switch _, known := canonical()[name]; {
	case known || strings.HasPrefix(name, "mcp__"):
		return ""
	case strings.HasPrefix(strings.ToLower(name), "mcp_"):
		return "unknown tool " + name + "; a server's tools are called mcp__server__tool"
	}
	if near := rank.Closest(name, Names(), 1); len(near) > 0 {
		return "unknown tool " + name + " (did you mean " + near[0] + "?)"
	}
	return "unknown tool " + name
}

// TakesContent reports whether rules for a known tool can be limited to some of its calls.
func TakesContent(name string) bool {
	return KindOf(name) != Own || name == "Skill" || name == "SlashCommand" || name == "Workflow"
}
