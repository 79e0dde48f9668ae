package term

import (
	"slices"
	"strings"
)

// A Terminal describes the terminal that the program runs in, as determined from environment
// variables. The terminal is not queried.
type Terminal struct {
	Name string
	// Inside is the multiplexer that the program runs in, tmux or screen, or "".
	Inside string
	// Colours is the number of colors: 16, 256 or 1<<24.
	Colours int
	// Capabilities. Each is empty if it works, and otherwise the setting that enables it; see
	// [Unsupported].
	ShiftEnter, Links, Clipboard, Focus string
	// File is the file that contains these settings; empty if they are elsewhere.
	File string
	// Notices is the terminal's notification mechanism; see [Channel].
	Notices Channel
}

// Unsupported means that a terminal does not support something.
const Unsupported = "-"

// A terminalKind is a kind of terminal and how to recognize it.
type terminalKind struct {
	Terminal
	is func(environ) bool
}

// environ returns the value of a variable.
type environ = func(string) string

// known lists terminals and their capabilities in the order in which they are checked. A
// terminal started from another one may inherit its variables.
func known() []terminalKind {
	set := func(name string) func(environ) bool {
		return func(getenv environ) bool { return getenv(name) != "" }
	}
	program := func(name string) func(environ) bool {
		return func(getenv environ) bool { return getenv("TERM_PROGRAM") == name }
	}
	kind := func(prefix string) func(environ) bool {
		return func(getenv environ) bool { return strings.HasPrefix(getenv("TERM"), prefix) }
	}
	return []terminalKind{
		{Terminal{Name: "the console of Linux", Colours: 16, ShiftEnter: Unsupported, Links: Unsupported, Clipboard: Unsupported, Focus: Unsupported}, kind("linux")},
		{Terminal{Name: "VS Code", File: "keybindings.json", ShiftEnter: `{"key": "shift+enter", "command": "workbench.action.terminal.sendSequence", "args": {"text": "\u001b\r"}, "when": "terminalFocus"}`}, program("vscode")},
		{Terminal{Name: "kitty", Notices: OSC99}, set("KITTY_WINDOW_ID")},
		{Terminal{Name: "ghostty", Notices: OSC777}, program("ghostty")},
		{Terminal{Name: "WezTerm", File: "wezterm.lua", ShiftEnter: "config.enable_kitty_keyboard = true", Notices: OSC777}, program("WezTerm")},
		{Terminal{Name: "iTerm2", ShiftEnter: "Settings > Profiles > Keys: Apps can change how keys are reported", Clipboard: "Settings > General > Selection: Applications in terminal may access clipboard", Notices: OSC9}, program("iTerm.app")},
		{Terminal{Name: "Terminal.app", Colours: 256, ShiftEnter: "Settings > Profiles > Keyboard: Use Option as Meta key; then Option+Enter begins a line", Links: Unsupported, Clipboard: Unsupported, Focus: Unsupported}, program("Apple_Terminal")},
		{Terminal{Name: "Windows Terminal", File: "settings.json, under actions", ShiftEnter: `{"command": {"action": "sendInput", "input": "\u001b\r"}, "keys": "shift+enter"}`}, set("WT_SESSION")},
		{Terminal{Name: "foot", Notices: OSC777}, kind("foot")},
		{Terminal{Name: "Alacritty"}, set("ALACRITTY_WINDOW_ID")},
		{Terminal{Name: "a terminal with VTE, such as GNOME Terminal", ShiftEnter: Unsupported, Clipboard: Unsupported}, set("VTE_VERSION")},
		{Terminal{Name: "xterm", File: "~/.Xresources", ShiftEnter: "XTerm*modifyOtherKeys: 1", Links: Unsupported, Clipboard: "XTerm*disallowedWindowOps: 20,21,SetXprop"}, set("XTERM_VERSION")},
	}
}

// Detect identifies the terminal.
func Detect(getenv func(string) string) Terminal {
	t := Terminal{Name: getenv("TERM"), ShiftEnter: Unsupported, Links: Unsupported, Clipboard: Unsupported}
	all := known()
	outer := func(name string) string { // a multiplexer's variables don't describe the terminal
		if name == "TERM" && (getenv("TMUX") != "" || getenv("STY") != "") {
			return ""
		}
		return getenv(name)
	}
	if i := slices.IndexFunc(all, func(s terminalKind) bool { return s.is(outer) }); i >= 0 {
		t = all[i].Terminal
	}
	if t.Notices == "" {
		t.Notices = Bell
	}
	if t.Colours == 0 {
		t.Colours = colours(getenv)
	}
	if getenv("TMUX") != "" {
		t.Inside = strings.TrimSpace("tmux " + version(getenv))
	} else if getenv("STY") != "" {
		t.Inside = "screen"
	}
	if t.Inside != "" {
		t.Notices = Bell // other channels don't get through unless the user has allowed it
	}
	return t
}

// version returns the version of tmux, if known.
func version(getenv func(string) string) string {
	if getenv("TERM_PROGRAM") != "tmux" {
		return ""
	}
	return Sanitize(getenv("TERM_PROGRAM_VERSION"))
}

func colours(getenv func(string) string) int {
	switch c := getenv("COLORTERM"); {
	case c == "truecolor" || c == "24bit":
		return 1 << 24
	case strings.Contains(getenv("TERM"), "256"):
		return 256
	}
	return 16
}
