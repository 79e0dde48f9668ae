package term

import (
	"strconv"
	"strings"
)

// Links reports whether the terminal is known to support links (OSC 8) or to ignore them.
func Links(getenv func(string) string) bool {
	switch {
	case getenv("TMUX") != "": // the outer terminal is unknown, but tmux handles that
		return getenv("TERM_PROGRAM") == "tmux" && atLeast(getenv("TERM_PROGRAM_VERSION"), 3, 4)
	case getenv("STY") != "":
		return false
	case getenv("KITTY_WINDOW_ID") != "", getenv("WT_SESSION") != "", strings.HasPrefix(getenv("TERM"), "foot"):
		return true
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "vscode":
		return true
	}
	version, err := strconv.Atoi(getenv("VTE_VERSION"))
	return err == nil && version >= 5000
}

// atLeast reports whether a version such as 3.4a is at least major.minor.
func atLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	rest = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	a, err := strconv.Atoi(first)
	b, _ := strconv.Atoi(rest) // ok: 0 if missing
	return err == nil && (a > major || a == major && b >= minor)
}
