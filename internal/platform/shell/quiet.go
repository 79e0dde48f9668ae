package shell

import (
	"slices"
	"strings"
)

// runsNothing reports whether the words after the program cannot be a command that it runs.
func runsNothing(words []string) bool {
	name := baseName(words[0])
	if dir := strings.TrimSuffix(words[0], name); dir != "" && dir != "/bin/" && dir != "/usr/bin/" {
		return false // another program of that name
	}
	switch {
	case name == "find":
		return !slices.ContainsFunc(words, isFindAction)
	case name == "command":
		return len(words) > 1 && (words[1] == "-v" || words[1] == "-V")
	case name == "awk" || name == "gawk" || name == "mawk":
		return !slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "|@") || strings.Contains(w, "system") })
	case Is(name, Quiet):
		return true
	}
	inner := strings.Fields(columns(name).inner)
	if len(inner) == 0 {
		return false
	}
	for i, word := range words[1:] {
		// Global options may have values, so after them any word may be the sub-command.
		if (i == 0 || strings.HasPrefix(words[1], "-")) && slices.Contains(inner, word) {
			return false
		}
		for _, option := range inner {
			if option[0] != '-' {
				continue
			}
			given, _, _ := strings.Cut(word, "=")
			if given == option || len(given) > 3 && strings.HasPrefix(option, given) { // options may be abbreviated
				return false
			}
		}
	}
	return true
}
