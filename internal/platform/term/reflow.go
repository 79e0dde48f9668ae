package term

import "strings"

// A Reflow is what a terminal does with lines when it becomes narrower.
type Reflow uint8

const (
	// NoReflow means that lines are cut, or that it is unknown.
	NoReflow Reflow = iota
	// RewrapsLines means that lines are rewrapped.
	RewrapsLines
	// RewrapsAndShifts means that, in addition, the cursor moves down for each row that lines
	// below it take more, as in xterm.js.
	RewrapsAndShifts
)

// Reflows returns what the terminal does with lines when it becomes narrower.
func Reflows(getenv func(string) string) Reflow {
	for _, name := range []string{"TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "ALACRITTY_WINDOW_ID"} {
		if getenv(name) != "" {
			return RewrapsLines
		}
	}
	switch getenv("TERM_PROGRAM") {
	case "vscode":
		return RewrapsAndShifts
	case "iTerm.app", "WezTerm", "ghostty", "Apple_Terminal":
		return RewrapsLines
	}
	if strings.HasPrefix(getenv("TERM"), "foot") {
		return RewrapsLines
	}
	return NoReflow
}
