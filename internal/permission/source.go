package permission

import "slices"

// A Behaviour is what a rule wants, and what is decided.
type Behaviour string

// The behaviours.
const (
	Allow Behaviour = "allow"
	Ask   Behaviour = "ask"
	Deny  Behaviour = "deny"
)

// A Source says where a rule comes from. It counts for reports, and for the few rules that only a
// session may hold: deny beats ask and ask beats allow, whatever the sources.
type Source string

// The sources, highest precedence first.
const (
	PolicySettings  Source = "policySettings"
	FlagSettings    Source = "flagSettings"
	CLIArg          Source = "cliArg"
	CommandSource   Source = "command"
	SessionSource   Source = "session"
	LocalSettings   Source = "localSettings"
	ProjectSettings Source = "projectSettings"
	UserSettings    Source = "userSettings"
)

// precedence orders sources for reports.
var precedence = [...]Source{
	PolicySettings, FlagSettings, CLIArg, CommandSource, SessionSource, LocalSettings, ProjectSettings, UserSettings,
}

func (s Source) rank() int {
	if i := slices.Index(precedence[:], s); i >= 0 {
		return i
	}
	return len(precedence)
}

// String returns the source as people know it.
func (s Source) String() string {
	switch s {
	case PolicySettings:
		return "the managed policy"
	case FlagSettings:
		return "--settings"
	case CLIArg:
		return "the command line"
	case CommandSource:
		return "the command that runs"
	case SessionSource:
		return "this session"
	case LocalSettings:
		return "the local settings"
	case ProjectSettings:
		return "the project settings"
	case UserSettings:
		return "the user settings"
	}
	return string(s)
}
