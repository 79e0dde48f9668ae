// Package variables makes the environments of the programs that adze starts: what it inherited itself, what the settings
// set, and for commands of the model without secrets.
package variables

import (
	"slices"
	"sync/atomic"

	"adze/internal/app/settings"
	"adze/internal/platform/environ"
	"adze/internal/platform/osproc"
)

// All returns an inherited environment, with its secrets, and the variables of the settings.
func All(inherited []string, v *settings.Values) []string { return append(inherited, entries(v)...) }

// entries returns the variables of the settings.
func entries(v *settings.Values) []string {
	var list []string
	for _, x := range v.Env {
		list = append(list, x.Name+"="+x.Value)
	}
	return list
}

// Commands are the environment of commands by certain settings.
type Commands struct {
	of       *settings.Values
	List     []string
	Withheld []string // the names of the secrets that they do not get
}

// ForCommands returns the environment of commands. What the settings set is there for them.
func ForCommands(inherited []string, v *settings.Values) *Commands {
	c := &Commands{of: v, List: osproc.ScrubEnv(inherited, v.Shell.KeyEnv...)}
	if v.Shell.DropSecrets {
		c.List, c.Withheld = environ.Withhold(c.List, v.Shell.PassEnv)
	}
	c.List = slices.Clip(append(c.List, osproc.ScrubEnv(entries(v))...))
	return c
}

// A Last is the environment of commands as it was asked for last. It is safe for concurrent use.
type Last struct{ atomic.Pointer[Commands] }

// By returns the environment of commands by the settings in force.
func (l *Last) By(inherited func() []string, v *settings.Values) *Commands {
	c := l.Load()
	if c == nil || c.of != v {
		c = ForCommands(inherited(), v)
		l.Store(c)
	}
	return c
}
