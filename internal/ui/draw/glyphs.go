package draw

import (
	"runtime"
	"strings"
)

// Glyphs are the marks used in rows. All are one cell wide in every terminal, even if it uses
// two cells for ambiguous characters.
type Glyphs struct {
	Active string // running or folded
	Open   string // unfolded
	Done   string
	Failed string
	Prompt string // user input and selected items
	More   string // omitted content
	Dot    string // separator between parts of a row
}

// Unicode returns the glyphs for UTF-8 terminals.
func Unicode() Glyphs { return Glyphs{"▸", "▾", "✓", "✗", "❯", "⋯", "∙"} }

// ASCII returns the glyphs for all other terminals.
func ASCII() Glyphs { return Glyphs{">", "v", "+", "x", ">", "...", "-"} }

// GlyphsFor returns the glyphs for the environment's locale.
func GlyphsFor(env func(name string) string) Glyphs {
	if runtime.GOOS == "windows" { // Windows has no locale variables
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
