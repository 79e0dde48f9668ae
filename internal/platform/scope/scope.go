// Package scope names where settings, permission rules and hooks come from. It is the one vocabulary
// for this: config, permission and hook share it, and its names are part of files and protocols.
package scope

import (
	"fmt"
	"strings"
)

// A Scope says where a setting, a rule or a hook comes from. Its value is the name that settings files,
// the log and hosts use. The zero value is unknown and ranks below every other.
type Scope string

// The scopes. Those called Settings are files; the others last as long as what they are named after.
const (
	Managed Scope = "policySettings"
	Flag    Scope = "flagSettings"
	CLI     Scope = "cliArg"
	Command Scope = "command"
	Session Scope = "session"
	Local   Scope = "localSettings"
	Project Scope = "projectSettings"
	User    Scope = "userSettings"
	Host    Scope = "host"
)

// table has the scopes in order of precedence, the highest first, with what users call them.
var table = [...]struct {
	scope Scope
	text  string
}{
	{Managed, "the managed policy"},
	{Flag, "--settings"},
	{CLI, "the command line"},
	{Command, "the command that runs"},
	{Session, "this session"},
	{Local, "the local settings"},
	{Project, "the project settings"},
	{User, "the user settings"},
	{Host, "the host"},
}

const suffix = "Settings"

// Parse returns the scope of a settings file by its name, whole or short: userSettings or user.
func Parse(name string) (Scope, error) {
	for _, row := range table {
		if short, ok := strings.CutSuffix(string(row.scope), suffix); ok && (name == short || name == string(row.scope)) {
			return row.scope, nil
		}
	}
	return "", fmt.Errorf("%q is no scope: choose user, project or local", name)
}

// String returns the name.
func (s Scope) String() string { return string(s) }

// Short returns the name without its suffix, such as user.
func (s Scope) Short() string { return strings.TrimSuffix(string(s), suffix) }

// Text returns the scope in words, such as "the user settings".
func (s Scope) Text() string {
	if i := s.rank(); i < len(table) {
		return table[i].text
	}
	return string(s)
}

// Writable reports whether the scope is a settings file that adze may change.
func (s Scope) Writable() bool { return s == Local || s == Project || s == User }

// Compare orders scopes by precedence, the highest first.
func Compare(a, b Scope) int { return a.rank() - b.rank() }

func (s Scope) rank() int {
	for i := range table {
		if table[i].scope == s {
			return i
		}
	}
	return len(table)
}
