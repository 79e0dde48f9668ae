package draw

import (
	"fmt"
	"slices"
	"strings"
)

// A theme maps roles to colors. A color is an escape sequence parameter, for the terminal's own
// colors, or #rrggbb.
type theme struct {
	name    string
	colours map[Role]string
}

// AutoTheme is the default theme.
const AutoTheme = "auto"

// themes returns the themes, the default first. Colors 30, 34, 37, 90 and 97 are not used
// because each is unreadable in a common configuration.
func themes() []theme {
	return []theme{
		{AutoTheme, ansi},
		{"dark", dark},
		{"light", light},
		{"dark-colour-blind", over(dark, "#58a6ff", "#e3a008")}, // avoids red and green
		{"light-colour-blind", over(light, "#0550ae", "#953800")},
		{"none", nil},
	}
}

var (
	ansi = map[Role]string{
		Accent: "36", Good: "32", Bad: "31", Warning: "33", Added: "32", Removed: "31", AddedWord: "32", RemovedWord: "31",
		Code: "36", Keyword: "35", String: "32", Number: "36",
	}
	dark = map[Role]string{
		Accent: "#7dcfff", Good: "#9ece6a", Bad: "#f7768e", Warning: "#e0af68",
		Added: "#9ece6a", Removed: "#f7768e", AddedWord: "#9ece6a", RemovedWord: "#f7768e",
		Code: "#7dcfff", Keyword: "#bb9af7", String: "#9ece6a", Number: "#ff9e64",
	}
	light = map[Role]string{
		Accent: "#0550ae", Good: "#116329", Bad: "#a40e26", Warning: "#7d4e00",
		Added: "#116329", Removed: "#a40e26", AddedWord: "#116329", RemovedWord: "#a40e26",
		Code: "#0550ae", Keyword: "#8250df", String: "#116329", Number: "#953800",
	}
)

// over returns colors with replacements for the roles that mean good or added, and bad or
// removed.
func over(colours map[Role]string, good, bad string) map[Role]string {
	out := map[Role]string{}
	for role, c := range colours {
		switch role {
		case Good, Added, AddedWord:
			c = good
		case Bad, Removed, RemovedWord:
			c = bad
		}
		out[role] = c
	}
	return out
}

// weights are the styles roles have in every theme, with or without colors.
var weights = map[Role]string{
	Faint: "2", Comment: "2", Strong: "1", Heading: "1", Emphasis: "4", Struck: "9", AddedWord: "1;4", RemovedWord: "1;4",
}

// PaletteFor returns the palette for an output: a theme's colors on a terminal, unless NO_COLOR
// is set or the terminal lacks color support. An unknown name selects the default theme.
func PaletteFor(terminal bool, name string, getenv func(string) string) Palette {
	if kind := getenv("TERM"); !terminal || kind == "dumb" || kind == "unknown" {
		return Palette{}
	}
	all := themes()
	i := max(0, slices.IndexFunc(all, func(t theme) bool { return t.name == name }))
	colours := all[i].colours
	if getenv("NO_COLOR") != "" {
		colours = nil
	}
	return paletteOf(colours, depth(getenv))
}

// Sample returns a row that previews a theme's colors.
func Sample(name string) Row {
	var colours map[Role]string
	for _, t := range themes() {
		if t.name == name {
			colours = t.colours
		}
	}
	row := Row{}
	for i, s := range []Span{
		{Role: Accent, Text: "accent"}, {Role: Added, Text: "+added"}, {Role: Removed, Text: "-removed"}, {Role: Warning, Text: "!warning"},
		{Role: Keyword, Text: "keyword"}, {Role: String, Text: `"string"`},
	} {
		if i > 0 {
			row = append(row, Span{Text: " "})
		}
		s.Style = colours[s.Role]
		s.Role = Text
		row = append(row, s)
	}
	return row
}

func paletteOf(colours map[Role]string, deep func(rgb [3]int) string) Palette {
	p := Palette{colour: colours != nil, deep: deep}
	for role := range roles {
		p.styles[role] = weights[role]
		if c := colours[role]; c != "" {
			if c[0] == '#' {
				c = deep(parse(c))
			}
			p.styles[role] = strings.TrimPrefix(p.styles[role]+";"+c, ";")
		}
	}
	if !p.colour {
		p.styles[Faint], p.styles[Comment], p.styles[Accent] = "", "", "1"
	}
	return p
}

// parse returns the components of a color #rrggbb.
func parse(colour string) (rgb [3]int) {
	fmt.Sscanf(colour, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]) // ok: the tables are tested
	return rgb
}

// depth returns the color format for the terminal: 24 bits if it advertises support, otherwise
// the nearest of 216 colors.
func depth(getenv func(string) string) func([3]int) string {
	if c := getenv("COLORTERM"); c == "truecolor" || c == "24bit" {
		return func(c [3]int) string { return fmt.Sprintf("38;2;%d;%d;%d", c[0], c[1], c[2]) }
	}
	return func(c [3]int) string { return fmt.Sprintf("38;5;%d", 16+36*step(c[0])+6*step(c[1])+step(c[2])) }
}

// step returns the nearest of the six levels of the 216-color cube.
func step(v int) int {
	if v < 48 {
		return 0
	}
	return max(1, (v-35)/40)
}
