package demo

import (
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/settings"
)

// A Machine is the environment of the demo's conversation: the user's without anything that
// configures adze, and with a home directory of its own.
type Machine struct {
	Home string
	vars map[string]string
}

// NewMachine returns the environment with the given variables, in the form NAME=value.
func NewMachine(home string, variables []string) *Machine {
	m := &Machine{Home: home, vars: map[string]string{}}
	for _, entry := range variables {
		name, value, _ := strings.Cut(entry, "=")
		m.vars[name] = value
	}
	for _, v := range settings.Variables(func(string) string { return "" }) {
		if !shown(v.Name) {
			delete(m.vars, v.Name)
		}
	}
	m.vars["HOME"], m.vars["USERPROFILE"], m.vars["ADZE_HOME"] = home, home, filepath.Join(home, ".adze")
	return m
}

// shown reports whether a variable is about how adze looks at the user's terminal.
func shown(name string) bool { return name == "ADZE_PLAIN" || name == "NO_COLOR" }

// Getenv returns the value of a variable, or "".
func (m *Machine) Getenv(name string) string { return m.vars[name] }

// Environ returns all variables in the form NAME=value.
func (m *Machine) Environ() []string {
	var all []string
	for name, value := range m.vars {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}
