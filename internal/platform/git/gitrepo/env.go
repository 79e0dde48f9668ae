package gitrepo

import (
	"slices"
	"strings"
)

// A setting is a git configuration setting.
type setting struct{ key, value string }

// baseEnv returns the variables for every git process: it writes only its output, does not
// prompt and does not fetch. None of them affects its output.
func baseEnv() []string {
	return []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_DISCOVERY_ACROSS_FILESYSTEM=0",
	}
}

// settingsEnv returns the variable that applies settings with precedence over all files. It is
// the variable behind git -c, which versions before 2.31 support too.
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

// guards are the settings that keep git from running other programs where nothing else prevents
// it. The fsmonitor is empty because old versions take "false" as a program name.
func guards() []setting {
	return []setting{
		{"core.fsmonitor", ""}, {"core.hooksPath", "/dev/null"}, {"core.pager", "cat"}, {"log.showSignature", "false"},
		{"safe.bareRepository", "explicit"}, {"protocol.allow", "never"}, {"diff.autoRefreshIndex", "false"},
		{"diff.submodule", "short"}, {"status.submoduleSummary", "false"},
	}
}

// Guard returns the variables for read-only git commands that the kernel does not confine.
// Their settings override all files. Commands that show settings run without them, and run no
// other programs.
func Guard(showsSettings bool) []string {
	if showsSettings {
		return baseEnv()
	}
	return append(baseEnv(), settingsEnv(guards())...)
}

// Harden returns the arguments of a read-only git command with options that keep other programs
// from producing its output.
func Harden(args []string) []string {
	n := subCommand(args)
	if n >= len(args) {
		return args
	}
	return slices.Concat(args[:n+1], plainOutputFlags(args[n]), args[n+1:])
}

// plainOutputFlags returns the options that keep other programs from producing a sub-command's output.
func plainOutputFlags(sub string) []string {
	switch sub {
	case "diff", "log", "show", "whatchanged", "diff-tree", "diff-index", "diff-files":
		return []string{"--no-ext-diff", "--no-textconv"}
	case "blame", "annotate":
		return []string{"--no-textconv"}
	}
	return nil
}

// subCommand returns the index of the sub-command, after git's own options, or len(args)
// without one.
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
