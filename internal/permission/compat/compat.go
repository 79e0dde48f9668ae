// Package compat holds the names that stand for tools in permission rules: ours, and those that rule files
// of other programs use. Below the tools it is the only place that knows a tool by its name; a tool that is
// not in it needs no entry, since rules for reading, writing, commands and hosts speak of what a call does,
// whichever tool makes it.
package compat

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
