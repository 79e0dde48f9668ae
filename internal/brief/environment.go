package brief

import (
	"strings"

	"adze/internal/platform/texts"
)

// An Environment is what the model is told about where it works. It is constant for a session.
type Environment struct {
	Dir string
	// Original is where the repository is that Dir is a worktree of, or empty.
	Original   string
	Extra      []string // further directories
	Repository bool
	Platform   string
	Shell      string
	System     string // name and version of the operating system
	Fast       bool
	Date       string // the day on which the session began, for the simple prompt
}

// A Model is what the model is told about itself.
type Model struct {
	ID, Name, Cutoff string
	// Kept is how many of the latest results are never cleared, where that is near; 0 means that it is not.
	Kept int
}

// Simple returns the small prompt.
func Simple(l texts.Language, e Environment) Assembly {
	return single("simple", say(l, "simple", e.Dir, e.Date))
}

// describe returns the section about the surroundings. It holds nothing that changes during a session.
func (e *Environment) describe(l texts.Language, m Model) string {
	lines := []string{say(l, "environment")}
	add := func(name string, values ...string) {
		if len(values) == 0 || values[0] != "" {
			lines = append(lines, say(l, "env."+name, values...))
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
