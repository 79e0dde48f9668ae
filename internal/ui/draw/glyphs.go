package draw

import (
	"runtime"
	"strings"
)

// Glyphs are the marks used in rows, one cell wide each.
type Glyphs struct {
	Active string // running or folded
	Open   string // unfolded
	Done   string
	Failed string
	Prompt string // user input and selected items
	More   string // omitted content
	Dot    string // separator between parts of a row

	// Glyphs of drawn text.
	Bullet, Unchecked, Checked string
	Rule, Bar                  string // horizontal line; vertical line

	// Branch and Leaf precede the items of a tree.
	Branch, Leaf string

	// Fills are the glyphs of the parts of a bar, the last one that of its rest.
	Fills [5]string

	// Glyphs of a question.
	Mark        string // the marked choice
	Top, Bottom string // left ends of the rules above and below its subject
}

// Unicode returns the glyphs for UTF-8 terminals.
func Unicode() Glyphs {
	return Glyphs{
		Active: "▸", Open: "▾", Done: "✓", Failed: "✗", Prompt: "❯", More: "⋯", Dot: "∙",
		Bullet: "•", Unchecked: "☐", Checked: "☑", Rule: "─", Bar: "│",
		Mark: "▌", Top: "╭", Bottom: "╰",
		Branch: "├", Leaf: "└",
		Fills: [5]string{"█", "▇", "▆", "▅", "▁"},
	}
}

// eastAsian returns the glyphs for UTF-8 terminals that may use two cells for characters of
// ambiguous width.
func eastAsian() Glyphs {
	g := Unicode()
	g.Bullet, g.Rule, g.Bar = "∙", "╌", "╎"
	g.Mark, g.Top, g.Bottom = "▸", "╌", "╌"
	g.Branch, g.Leaf, g.Fills = ASCII().Branch, ASCII().Leaf, ASCII().Fills
	return g
}

// ASCII returns the glyphs for all other terminals.
func ASCII() Glyphs {
	return Glyphs{
		Active: ">", Open: "v", Done: "+", Failed: "x", Prompt: ">", More: "...", Dot: "-",
		Bullet: "-", Rule: "-", Bar: "|", Mark: ">", Top: "+", Bottom: "+", // check boxes keep their Markdown marks
		Branch: "|", Leaf: "|",
		Fills: [5]string{"#", "=", "+", "%", "."},
	}
}

// GlyphsFor returns the glyphs for the environment's locale.
func GlyphsFor(env func(name string) string) Glyphs {
	if runtime.GOOS == "windows" { // Windows has no locale variables
		return Unicode()
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(env(name)); locale != "" {
			switch {
			case !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8"):
				return ASCII()
			case strings.HasPrefix(locale, "zh"), strings.HasPrefix(locale, "ja"), strings.HasPrefix(locale, "ko"):
				return eastAsian()
			}
			return Unicode()
		}
	}
	return ASCII()
}
