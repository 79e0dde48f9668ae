package conversation

import (
	"slices"
	"sync/atomic"

	"adze/internal/platform/proc/environ"
	"adze/internal/platform/proc/osproc"
	"adze/internal/settings"
)

// All returns the inherited environment, including secrets, and the variables from the
// settings.
func Environ(inherited []string, v *settings.Values) []string {
	return append(inherited, entries(v)...)
}

// entries returns the variables from the settings.
func entries(v *settings.Values) []string {
	var list []string
	for _, x := range v.Env {
		list = append(list, x.Name+"="+x.Value)
	}
	return list
}

// Commands is the environment of commands for certain settings.
type CommandEnv struct {
	of       *settings.Values
	List     []string
	Withheld []string // names of withheld secrets
}

// ForCommands returns the environment of commands. Variables from the settings are included.
func NewCommandEnv(inherited []string, v *settings.Values) *CommandEnv {
	c := &CommandEnv{of: v, List: osproc.ScrubEnv(inherited, v.Shell.KeyEnv...)}
	if v.Shell.DropSecrets {
		c.List, c.Withheld = environ.Withhold(c.List, v.Shell.PassEnv)
	}
	c.List = slices.Clip(append(c.List, osproc.ScrubEnv(entries(v))...))
	return c
}

// A Last caches the most recent environment of commands. It is safe for concurrent use.
type CommandEnvCache struct{ atomic.Pointer[CommandEnv] }

// By returns the environment of commands for the current settings.
func (l *CommandEnvCache) By(inherited func() []string, v *settings.Values) *CommandEnv {
	c := l.Load()
	if c == nil || c.of != v {
		c = NewCommandEnv(inherited(), v)
		l.Store(c)
	}
	return c
}
