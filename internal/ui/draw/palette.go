package draw

import "strings"

// A Style is a way to show text, written as the parameters of a terminal's escape sequence. The zero
// value shows it as it is.
type Style string

// Apply returns text, which must be safe already, in this style.
func (s Style) Apply(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// A Palette is the styles of a front end. The zero value is plain. It uses the terminal's own sixteen
// colours, which the user chose.
type Palette struct {
	None, Strong, Faint, Accent, Good, Bad Style
}

// Colours returns the palette for a terminal.
func Colours() Palette {
	return Palette{Strong: "1", Faint: "2", Accent: "36", Good: "32", Bad: "31"}
}

// PaletteFor returns the palette for an output: colours at a terminal, unless the user does not want
// any (NO_COLOR) or the terminal has none.
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
