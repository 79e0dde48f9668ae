package draw

import (
	"runtime"
	"strings"
)

// Glyphs are the marks of rows. All are one cell wide in every terminal, also where ambiguous characters take two.
type Glyphs struct {
	Active string // something that goes on, or is folded
	Open   string // something that is unfolded
	Done   string
	Failed string
	Prompt string // what the user enters, and what is chosen
	More   string // something is left out
	Dot    string // between parts of a row
}

// Unicode returns the glyphs for a terminal that shows UTF-8.
func Unicode() Glyphs { return Glyphs{"▸", "▾", "✓", "✗", "❯", "⋯", "∙"} }

// ASCII returns the glyphs for any other terminal.
func ASCII() Glyphs { return Glyphs{">", "v", "+", "x", ">", "...", "-"} }

// GlyphsFor returns the glyphs for the locale that the environment names.
func GlyphsFor(env func(name string) string) Glyphs {
	if runtime.GOOS == "windows" { // there the locale says nothing
		return Unicode()
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(env(name)); locale != "" {
			if strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8") {
				return Unicode()
			}
			break
		}
	}
	return ASCII()
}
