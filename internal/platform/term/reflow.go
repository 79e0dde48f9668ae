package term

import "strings"

// Reflows reports whether the terminal rewraps lines when it becomes narrower.
func Reflows(getenv func(string) string) bool {
	for _, name := range []string{"TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "ALACRITTY_WINDOW_ID"} {
		if getenv(name) != "" {
			return true
		}
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "Apple_Terminal", "vscode":
		return true
	}
	return strings.HasPrefix(getenv("TERM"), "foot")
}
