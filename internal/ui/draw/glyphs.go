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

	// Tee and Corner precede the items of a tree.
	Tee, Corner string

	// Fills are the glyphs of the parts of a bar, the last one that of its rest.
	Fills [5]string

	// Glyphs of a question.
	Mark        string // the marked choice
	Top, Bottom string // left ends of the rules above and below its subject

	// Glyphs of the frame.
	Ellipsis   string
	State      string // the permission mode
	Full, Free string // used and free part of a gauge
	Branch     string // before a branch; may be empty
	Received   string // before what was received; may be empty
	Spinner    string // the states of a moving glyph, a character each
}

// Unicode returns the glyphs for UTF-8 terminals.
func Unicode() Glyphs {
	return Glyphs{
		Active: "▸", Open: "▾", Done: "✓", Failed: "✗", Prompt: "❯", More: "⋯", Dot: "∙",
		Bullet: "•", Unchecked: "☐", Checked: "☑", Rule: "─", Bar: "│",
		Mark: "▌", Top: "╭", Bottom: "╰",
		Ellipsis: "…", State: "●", Full: "▰", Free: "▱", Branch: "⎇ ", Received: "↓ ", Spinner: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
		Tee: "├", Corner: "└",
		Fills: [5]string{"█", "▇", "▆", "▅", "▁"},
	}
}

// eastAsian returns the glyphs for UTF-8 terminals that may use two cells for characters of
// ambiguous width.
func eastAsian() Glyphs {
	g := Unicode()
	g.Bullet, g.Rule, g.Bar = "∙", "╌", "╎"
	g.Mark, g.Top, g.Bottom = "▸", "╌", "╌"
	g.Ellipsis, g.State, g.Received = "⋯", "▪", ""
	g.Tee, g.Corner, g.Fills = ASCII().Tee, ASCII().Corner, ASCII().Fills
	return g
}

// ASCII returns the glyphs for all other terminals.
func ASCII() Glyphs {
	return Glyphs{
		Active: ">", Open: "v", Done: "+", Failed: "x", Prompt: ">", More: "...", Dot: "-",
		Bullet: "-", Rule: "-", Bar: "|", Mark: ">", Top: "+", Bottom: "+", // check boxes keep their Markdown marks
		Ellipsis: "...", State: "*", Full: "#", Free: ".", Spinner: `|/-\`,
		Tee: "|", Corner: "|",
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
