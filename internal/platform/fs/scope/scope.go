// Package scope identifies where settings, permission rules and hooks come from. Packages
// config, permission and hook share these names, which are part of files and protocols.
package scope

import (
	"fmt"
	"strings"
)

// A Scope is the source of a setting, rule or hook. Its value is the name used in settings
// files, the log and hosts. The zero value is unknown and ranks below all others.
type Scope string

// Scopes. Names ending in Settings are files; the others are limited to a command, session or
// the like.
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

// table lists the scopes with their display names, highest precedence first.
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

// Parse returns the scope of a settings file by its full or short name: userSettings or user.
func Parse(name string) (Scope, error) {
	for _, row := range table {
		if short, ok := strings.CutSuffix(string(row.scope), suffix); ok && (name == short || name == string(row.scope)) {
			return row.scope, nil
		}
	}
	return "", fmt.Errorf("unknown scope %q (want user, project or local)", name)
}

// String returns the name.
func (s Scope) String() string { return string(s) }

// Short returns the name without its suffix, such as user.
func (s Scope) Short() string { return strings.TrimSuffix(string(s), suffix) }

// Text returns the display name, such as "the user settings".
func (s Scope) Text() string {
	if i := s.rank(); i < len(table) {
		return table[i].text
	}
	return string(s)
}

// Writable reports whether the scope is a settings file that adze may change.
func (s Scope) Writable() bool { return s == Local || s == Project || s == User }

// Compare orders scopes by precedence, highest first.
func Compare(a, b Scope) int { return a.rank() - b.rank() }

func (s Scope) rank() int {
	for i := range table {
		if table[i].scope == s {
			return i
		}
	}
	return len(table)
}
