// Package variables builds the environments of programs started by adze: the inherited
// environment and the variables from the settings, with secrets removed for the model's
// commands.
package variables

import (
	"slices"
	"sync/atomic"

	"adze/internal/platform/environ"
	"adze/internal/platform/osproc"
	"adze/internal/settings"
)

// All returns the inherited environment, including secrets, and the variables from the
// settings.
func All(inherited []string, v *settings.Values) []string { return append(inherited, entries(v)...) }

// entries returns the variables from the settings.
func entries(v *settings.Values) []string {
	var list []string
	for _, x := range v.Env {
		list = append(list, x.Name+"="+x.Value)
	}
	return list
}

// Commands is the environment of commands for certain settings.
type Commands struct {
	of       *settings.Values
	List     []string
	Withheld []string // names of withheld secrets
}

// ForCommands returns the environment of commands. Variables from the settings are included.
func ForCommands(inherited []string, v *settings.Values) *Commands {
	c := &Commands{of: v, List: osproc.ScrubEnv(inherited, v.Shell.KeyEnv...)}
	if v.Shell.DropSecrets {
		c.List, c.Withheld = environ.Withhold(c.List, v.Shell.PassEnv)
	}
	c.List = slices.Clip(append(c.List, osproc.ScrubEnv(entries(v))...))
	return c
}

// A Last caches the most recent environment of commands. It is safe for concurrent use.
type Last struct{ atomic.Pointer[Commands] }

// By returns the environment of commands for the current settings.
func (l *Last) By(inherited func() []string, v *settings.Values) *Commands {
	c := l.Load()
	if c == nil || c.of != v {
		c = ForCommands(inherited(), v)
		l.Store(c)
	}
	return c
}
