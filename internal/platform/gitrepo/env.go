package gitrepo

import (
	"slices"
	"strings"
)

// A setting is one of git's configuration.
type setting struct{ key, value string }

// baseEnv returns the variables with which git is always run: it writes nothing beside its answer, does not wait
// for the user, and fetches nothing. None of them shows in what it answers.
func baseEnv() []string {
	return []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_DISCOVERY_ACROSS_FILESYSTEM=0",
	}
}

// settingsEnv returns the variable that puts settings in force, above those of all files: the one of git -c, which
// versions before 2.31 know, too.
func settingsEnv(settings []setting) []string {
	if len(settings) == 0 {
		return nil
	}
	var words []string
	for _, s := range settings {
		words = append(words, "'"+s.key+"="+s.value+"'")
	}
	return []string{"GIT_CONFIG_PARAMETERS=" + strings.Join(words, " ")}
}

// guards are the settings that keep git from running anything where nothing else does. An empty monitor is none to
// old versions as well, which take false for its name.
func guards() []setting {
	return []setting{
		{"core.fsmonitor", ""}, {"core.hooksPath", "/dev/null"}, {"core.pager", "cat"}, {"log.showSignature", "false"},
		{"safe.bareRepository", "explicit"}, {"protocol.allow", "never"}, {"diff.autoRefreshIndex", "false"},
		{"diff.submodule", "short"}, {"status.submoduleSummary", "false"},
	}
}

// Guard returns the variables with which git commands that only read are run where the kernel does not confine
// them: their settings win over those of all files. A line that shows settings is run without them: what shows
// settings runs nothing.
func Guard(showsSettings bool) []string {
	if showsSettings {
		return baseEnv()
	}
	return append(baseEnv(), settingsEnv(guards())...)
}

// Harden returns the arguments of a git command that only reads with the options that keep its answer from being
// made by other programs.
func Harden(args []string) []string {
	n := subCommand(args)
	if n >= len(args) {
		return args
	}
	return slices.Concat(args[:n+1], plainly(args[n]), args[n+1:])
}

// plainly returns the options of a sub-command that keep its answer from being made by other programs.
func plainly(sub string) []string {
	switch sub {
	case "diff", "log", "show", "whatchanged", "diff-tree", "diff-index", "diff-files":
		return []string{"--no-ext-diff", "--no-textconv"}
	case "blame", "annotate":
		return []string{"--no-textconv"}
	}
	return nil
}

// subCommand returns where in the arguments the sub-command is, behind the options of git itself, or that there
// is none.
func subCommand(args []string) int {
	if len(args) == 0 || args[0] != "git" {
		return len(args)
	}
	for n := 1; n < len(args); n++ {
		switch arg := args[n]; {
		case arg == "-C" || arg == "-c":
			n++
		case arg == "" || arg[0] != '-':
			return n
		}
	}
	return len(args)
}
