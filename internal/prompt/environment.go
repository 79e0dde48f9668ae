package prompt

import (
	"strings"

	"adze/internal/platform/text/texts"
)

// An Environment describes the model's working environment. It is constant for a session.
type Environment struct {
	Dir string
	// Original is the main repository if Dir is a worktree, or empty.
	Original   string
	Extra      []string // additional directories
	Repository bool
	Platform   string
	Shell      string
	System     string // operating system name and version
	Fast       bool
	Date       string // start date of the session, for the simple prompt
}

// A Model holds the facts that the prompt states about the model itself.
type Model struct {
	ID, Name, Cutoff string
	// Kept is the number of latest tool results that are never cleared, if clearing is near;
	// otherwise 0.
	Kept int
}

// Simple returns the minimal prompt.
func Simple(l texts.Language, e Environment) Assembly {
	return single("simple", catalogText(l, "simple", e.Dir, e.Date))
}

// describe returns the environment section. It contains nothing that changes during a session.
func (e *Environment) describe(l texts.Language, m Model) string {
	lines := []string{catalogText(l, "environment")}
	add := func(name string, values ...string) {
		if len(values) == 0 || values[0] != "" {
			lines = append(lines, catalogText(l, "env."+name, values...))
		}
	}
	add("dir", e.Dir)
	add("worktree", e.Original)
	add("extra", strings.Join(e.Extra, ", "))
	if e.Repository {
		add("repository")
	} else {
		add("norepository")
	}
	add("platform", e.Platform)
	add("shell", e.Shell)
	add("system", e.System)
	if m.Name == "" || m.Name == m.ID {
		add("modelid", m.ID)
	} else {
		add("model", m.Name, m.ID)
	}
	add("cutoff", m.Cutoff)
	if e.Fast {
		add("fast")
	}
	return strings.Join(lines, "\n")
}
