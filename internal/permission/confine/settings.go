package confine

import (
	"fmt"
	"slices"

	"adze/internal/platform/sandbox"
	"adze/internal/platform/shell"
)

// Settings configures the confinement of commands. The zero value confines none.
type Settings struct {
	Enabled bool
	// Required stops the program if no sandbox works.
	Required bool
	// AutoAllow removes prompts about commands in the sandbox.
	AutoAllow bool
	// AllowUnsandboxed lets the model request a command outside the sandbox.
	AllowUnsandboxed bool
	// Excluded holds patterns of commands that run outside the sandbox.
	Excluded []string

	// AllowWrite, DenyWrite and DenyRead are paths, relative to the conversation's directory;
	// "~" is the user's home.
	AllowWrite, DenyWrite, DenyRead []string
	// AllowedDomains and DeniedDomains are hosts in the format of [sandbox.ParseDomain].
	AllowedDomains, DeniedDomains []string
	// PassEnv names variables that commands keep although they look like secrets.
	PassEnv []string
}

// excluded returns the valid patterns of Excluded.
func (s *Settings) excluded() []string {
	return slices.DeleteFunc(slices.Clone(s.Excluded), func(text string) bool {
		_, err := shell.ParsePattern(text)
		return err != nil
	})
}

// problems returns the errors in lists of s that differ from before. Invalid entries are
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
		return fmt.Sprintf("sandbox.excludedCommands: ignoring %q, which is not a command pattern: %v", text, err)
	}
	return ""
}

func domainProblem(setting string) func(text string) string {
	return func(text string) string {
		if _, err := sandbox.ParseDomain(text); err != nil {
			return fmt.Sprintf("%s: ignoring %q: %v", setting, text, err)
		}
		return ""
	}
}
