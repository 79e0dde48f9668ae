package confine

import (
	"fmt"
	"slices"

	"adze/internal/platform/sandbox"
	"adze/internal/platform/shell"
)

// Settings say how commands are confined. The zero value confines none.
type Settings struct {
	Enabled bool
	// Required stops the program if no sandbox works.
	Required bool
	// AutoAllow drops the questions about commands in the sandbox.
	AutoAllow bool
	// AllowUnsandboxed lets the model ask for a command outside the sandbox.
	AllowUnsandboxed bool
	// Excluded are patterns of commands that run outside the sandbox.
	Excluded []string

	// AllowWrite, DenyWrite and DenyRead are paths. A relative one belongs to the directory of the
	// conversation, "~" is the user's home.
	AllowWrite, DenyWrite, DenyRead []string
	// AllowedDomains and DeniedDomains are hosts, as [sandbox.ParseDomain] reads them.
	AllowedDomains, DeniedDomains []string
	// PassEnv names variables that commands keep although they look like secrets.
	PassEnv []string
}

// excluded returns the patterns of Excluded that can be read.
func (s *Settings) excluded() []string {
	return slices.DeleteFunc(slices.Clone(s.Excluded), func(text string) bool {
		_, err := shell.ParsePattern(text)
		return err != nil
	})
}

// problems returns what is wrong with the lists of s that differ from those of before. Wrong entries are
// ignored.
func (s *Settings) problems(before *Settings) []string {
	if !s.Enabled {
		return nil
	}
	var found []string
	check := func(now, was []string, problem func(text string) string) {
		if before.Enabled && slices.Equal(now, was) {
			return
		}
		for _, text := range now {
			if p := problem(text); p != "" {
				found = append(found, p)
			}
		}
	}
	check(s.Excluded, before.Excluded, patternProblem)
	check(s.AllowedDomains, before.AllowedDomains, domainProblem("sandbox.network.allowedDomains"))
	check(s.DeniedDomains, before.DeniedDomains, domainProblem("sandbox.network.deniedDomains"))
	return found
}

func patternProblem(text string) string {
	if _, err := shell.ParsePattern(text); err != nil {
		return fmt.Sprintf("sandbox.excludedCommands: %q is no pattern of commands: %v; it is ignored", text, err)
	}
	return ""
}

func domainProblem(setting string) func(text string) string {
	return func(text string) string {
		if _, err := sandbox.ParseDomain(text); err != nil {
			return fmt.Sprintf("%s: %q is ignored: %v", setting, text, err)
		}
		return ""
	}
}
