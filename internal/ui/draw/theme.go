package draw

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/platform/term"
)

// A theme maps roles to colors. A color is an escape sequence parameter, for the terminal's own
// colors, or #rrggbb.
type theme struct {
	name    string
	colours map[Role]string
	grounds map[Ground]string // #rrggbb
}

// AutoTheme is the default theme: dark or light if the terminal's background is known,
// otherwise the terminal's own colors.
const AutoTheme = "auto"

// themes returns the themes, the default first. Colors 30, 34, 37, 90 and 97 are not used
// because each is unreadable in a common configuration.
func themes() []theme {
	return []theme{
		{AutoTheme, ansi, nil},
		{"ansi", ansi, nil},
		{"dark", dark, darkGrounds},
		{"light", light, lightGrounds},
		// These avoid red and green.
		{"dark-colour-blind", over(dark, "#58a6ff", "#e3a008"), shifted(darkGrounds, "#1a2a40", "#1b3c63", "#33290f", "#4f3a0e")},
		{"light-colour-blind", over(light, "#0550ae", "#953800"), shifted(lightGrounds, "#e3f0ff", "#c3deff", "#fff1d6", "#ffdfa8")},
		{"none", nil, nil},
	}
}

var (
	ansi = map[Role]string{
		Accent: "36", Good: "32", Bad: "31", Warning: "33", Added: "32", Removed: "31", AddedWord: "32", RemovedWord: "31",
		Code: "36", Keyword: "35", String: "32", Number: "36",
	}
	dark = map[Role]string{
		Faint: "#949cb0", Border: "#565f89", Accent: "#7dcfff", Good: "#9ece6a", Bad: "#f7768e", Warning: "#e0af68",
		Added: "#9ece6a", Removed: "#f7768e", AddedWord: "#9ece6a", RemovedWord: "#f7768e",
		Code: "#7dcfff", Keyword: "#bb9af7", String: "#9ece6a", Number: "#ff9e64", Comment: "#a5afbf",
	}
	darkGrounds = map[Ground]string{
		AddedGround: "#1f2d24", RemovedGround: "#37222c", AddedWordGround: "#1c4428", RemovedWordGround: "#5e2433",
		UserGround: "#222638", SelectedGround: "#282c45",
	}
	light = map[Role]string{
		Faint: "#57606a", Border: "#b6bdca", Accent: "#0550ae", Good: "#116329", Bad: "#a40e26", Warning: "#7d4e00",
		Added: "#116329", Removed: "#a40e26", AddedWord: "#116329", RemovedWord: "#a40e26",
		Code: "#0550ae", Keyword: "#6f3fc9", String: "#116329", Number: "#953800", Comment: "#57606a",
	}
	lightGrounds = map[Ground]string{
		AddedGround: "#e6ffec", RemovedGround: "#ffebe9", AddedWordGround: "#b7f0c5", RemovedWordGround: "#ffcdc8",
		UserGround: "#eef2ff", SelectedGround: "#e4eafc",
	}
)

// shifted returns grounds with other colors for changes.
func shifted(all map[Ground]string, added, addedWord, removed, removedWord string) map[Ground]string {
	out := maps.Clone(all)
	out[AddedGround], out[AddedWordGround], out[RemovedGround], out[RemovedWordGround] = added, addedWord, removed, removedWord
	return out
}

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
	Faint: "2", Border: "2", Comment: "2", Strong: "1", Heading: "1", Title: "1", Emphasis: "3", Struck: "9", AddedWord: "1;4", RemovedWord: "1;4",
}

// PaletteFor returns the palette for an output: a theme's colors on a terminal, unless NO_COLOR
// is set or the terminal lacks color support. An unknown name selects the default theme.
func PaletteFor(terminal bool, name string, getenv func(string) string) Palette {
	if !terminal {
		return Palette{}
	}
	return PaletteOn(BackgroundFor(getenv), name, getenv)
}

// PaletteOn is [PaletteFor] for a terminal with the given background.
func PaletteOn(b Background, name string, getenv func(string) string) Palette {
	kind := getenv("TERM")
	if kind == "dumb" || kind == "unknown" {
		return Palette{}
	}
	colours := term.Detect(getenv).Colours
	if name == AutoTheme && colours > 16 && b != UnknownBackground {
		name = b.theme()
	}
	all := themes()
	i := max(0, slices.IndexFunc(all, func(t theme) bool { return t.name == name }))
	t := all[i]
	if getenv("NO_COLOR") != "" {
		t = theme{}
	}
	p := paletteOf(t, colours == 1<<24)
	if kind == "linux" || strings.HasPrefix(kind, "screen") { // show italic text in colors or inverse
		p.styles[Emphasis] = "4"
	}
	return p
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

// paletteOf returns a theme's palette. Deep is true if the terminal has 24-bit color; otherwise
// colors are the nearest of 256, and changes have no backgrounds because the nearest ones are
// grays.
func paletteOf(t theme, deep bool) Palette {
	p := Palette{colour: t.colours != nil, deep: deep}
	for g, c := range t.grounds {
		if deep || g == UserGround || g == SelectedGround {
			p.grounds[g] = "4" + p.colourOf(c)[1:]
		}
	}
	for role := range roles {
		p.styles[role] = weights[role]
		c := t.colours[role]
		if role == Title {
			c = t.colours[Accent]
		}
		if c != "" {
			if c[0] == '#' {
				c = p.colourOf(c)
			}
			if p.styles[role] == weights[Faint] {
				p.styles[role] = "" // the color is faint enough
			}
			p.styles[role] = strings.TrimPrefix(p.styles[role]+";"+c, ";")
		}
	}
	if !p.colour {
		p.styles[Faint], p.styles[Border], p.styles[Comment], p.styles[Accent] = "", "", "", "1"
	}
	return p
}

// parse returns the components of a color #rrggbb.
func parse(colour string) (rgb [3]int) {
	fmt.Sscanf(colour, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]) // ok: the tables are tested
	return rgb
}

// colourOf returns the escape sequence parameters for text in a color #rrggbb.
func (p *Palette) colourOf(colour string) string {
	c := parse(colour)
	if p.deep {
		return fmt.Sprintf("38;2;%d;%d;%d", c[0], c[1], c[2])
	}
	return fmt.Sprintf("38;5;%d", nearest(c))
}

// nearest returns the number of the nearest of 256 colors. The first 16 are not used because
// users change them.
func nearest(c [3]int) int {
	cube := [3]int{step(c[0]), step(c[1]), step(c[2])}
	grey := min(max(0, (c[0]+c[1]+c[2])/3-3)/10, 23)
	if distance(c, [3]int{8 + 10*grey, 8 + 10*grey, 8 + 10*grey}) < distance(c, [3]int{levels[cube[0]], levels[cube[1]], levels[cube[2]]}) {
		return 232 + grey
	}
	return 16 + 36*cube[0] + 6*cube[1] + cube[2]
}

// levels are the levels of each component in the 216-color cube.
var levels = [6]int{0, 95, 135, 175, 215, 255}

// step returns the nearest of the levels.
func step(v int) int {
	if v < 48 {
		return 0
	}
	return min(max(1, (v-35)/40), 5)
}

// distance returns the squared distance of two colors.
func distance(a, b [3]int) int {
	sum := 0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}
