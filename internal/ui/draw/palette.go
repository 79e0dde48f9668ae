package draw

import "strings"

// A Style is the parameters of a terminal's escape sequence. The zero value is plain text.
type Style string

// Apply returns text, which must be safe already, in this style.
func (s Style) Apply(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// A Palette is the set of styles of a front end. The zero value is plain.
type Palette struct {
	None, Strong, Emphasis, Faint, Accent, Good, Bad Style
}

// Colours returns a palette of the terminal's own sixteen colours, which the user chose.
func Colours() Palette {
	return Palette{Strong: "1", Emphasis: "4", Faint: "2", Accent: "36", Good: "32", Bad: "31"}
}

// PaletteFor returns the palette for an output: colours at a terminal, unless the user has set NO_COLOR or the terminal
// has none.
func PaletteFor(terminal bool, getenv func(string) string) Palette {
	if !terminal || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return Palette{}
	}
	return Colours()
}

func (p Palette) diffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return p.Good
	case strings.HasPrefix(line, "-"):
		return p.Bad
	}
	return p.None
}
