package svg

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Options configures a picture. Looks is required.
type Options struct {
	Title string // describes the picture, and is shown above the screen
	Looks Looks
}

// Looks are a terminal's colors, as #rrggbb.
type Looks struct {
	Text, Ground, Edge string
	Palette            [16]string
}

// Dark returns the colors of a dark terminal.
func Dark() Looks {
	return Looks{Text: "#d5d8df", Ground: "#16181d", Edge: "#3a3f4b", Palette: [16]string{
		"#3b4048", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#d5d8df",
		"#6b7280", "#ff8fa3", "#b5e084", "#f0c583", "#93b4ff", "#cdb2ff", "#a0ddff", "#ffffff",
	}}
}

// Light returns the colors of a light terminal.
func Light() Looks {
	return Looks{Text: "#1f2328", Ground: "#ffffff", Edge: "#d0d7de", Palette: [16]string{
		"#24292f", "#a40e26", "#116329", "#7d4e00", "#0550ae", "#6f3fc9", "#0a6a73", "#57606a",
		"#57606a", "#cf222e", "#1a7f37", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#24292f",
	}}
}

// A Frame is one screen of an animation.
type Frame struct {
	Screen Screen
	Lasts  time.Duration
}

// Still returns a picture of a screen.
func Still(s Screen, o Options) []byte { return Animation([]Frame{{Screen: s}}, o) }

// Animation returns a picture that shows the frames in turn, forever. Viewers without animations
// show the last one. Without frames it returns nil.
func Animation(frames []Frame, o Options) []byte {
	if len(frames) == 0 {
		return nil
	}
	p := &picture{looks: o.Looks, rows: map[string]string{}, classes: map[string]string{}}
	var strip bytes.Buffer
	var shown []string // content of each frame
	var lasts []time.Duration
	for _, f := range frames {
		content := p.frame(f.Screen)
		if n := len(shown); n > 0 && shown[n-1] == content {
			lasts[n-1] += f.Lasts
			continue
		}
		shown, lasts = append(shown, content), append(lasts, f.Lasts)
	}
	width, height := cellWidth*float64(frames[0].Screen.width), cellHeight*len(frames[0].Screen.rows)
	for i, content := range shown {
		if i == 0 {
			fmt.Fprintf(&strip, "<g>%s</g>\n", content)
		} else {
			fmt.Fprintf(&strip, "<g transform=\"translate(0 %d)\">%s</g>\n", i*height, content)
		}
	}

	var b bytes.Buffer
	wide, high := math.Ceil(width)+2*padding, float64(height)+titleHeight+padding
	title := escape(o.Title)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img" aria-label="%[3]s">`+"\n", number(wide), number(high), title)
	b.WriteString("<style>\n" + p.styles(lasts, height) + "</style>\n")
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%s" height="%s" rx="9" fill="%s" stroke="%s"/>`+"\n", number(wide-1), number(high-1), o.Looks.Ground, o.Looks.Edge)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="6" fill="%s"/>`, padding+6+20*i, titleHeight/2, colour)
	}
	fmt.Fprintf(&b, "\n"+`<text x="50%%" y="%d" text-anchor="middle" fill="%s" opacity=".6">%s</text>`+"\n", titleHeight/2+5, o.Looks.Text, title)
	b.WriteString("<defs>\n" + p.defs.String() + "</defs>\n")
	fmt.Fprintf(&b, `<svg x="%d" y="%d" width="%s" height="%d" fill="%s"><g class="screen">`+"\n", padding, titleHeight, number(width), height, o.Looks.Text)
	b.Write(strip.Bytes())
	b.WriteString("</g></svg>\n</svg>\n")
	return b.Bytes()
}

// The space around the screen, in pixels.
const (
	padding     = 14
	titleHeight = 36
)

// A picture collects what the frames share: rows, and classes of styles.
type picture struct {
	looks   Looks
	defs    bytes.Buffer
	rows    map[string]string // IDs by content
	classes map[string]string // class names by declarations
	order   []string          // declarations in order of use
}

// styles returns the style sheet, with the times of the frames.
func (p *picture) styles(lasts []time.Duration, height int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace}\n", fontSize)
	b.WriteString("rect.g{shape-rendering:crispEdges}path.l{fill:none;stroke-width:1.2}\n")
	for _, declarations := range p.order {
		fmt.Fprintf(&b, ".%s{%s}\n", p.classes[declarations], declarations)
	}
	if len(lasts) < 2 {
		return b.String()
	}
	var total time.Duration
	for _, d := range lasts {
		total += d
	}
	fmt.Fprintf(&b, ".screen{transform:translateY(-%dpx);animation:frames %ss step-end infinite}\n", (len(lasts)-1)*height, number(total.Seconds()))
	b.WriteString("@media(prefers-reduced-motion:reduce){.screen{animation:none}}\n@keyframes frames{")
	var at time.Duration
	for i, d := range lasts {
		fmt.Fprintf(&b, "%s%%{transform:translateY(-%dpx)}", strconv.FormatFloat(100*float64(at)/float64(max(1, total)), 'f', 3, 64), i*height)
		at += d
	}
	b.WriteString("}\n")
	return b.String()
}

// class returns the class with the given declarations.
func (p *picture) class(declarations string) string {
	name, ok := p.classes[declarations]
	if !ok {
		name = "c" + strconv.Itoa(len(p.order))
		p.classes[declarations] = name
		p.order = append(p.order, declarations)
	}
	return name
}

// frame returns the elements of a screen.
func (p *picture) frame(s Screen) string {
	var b strings.Builder
	for i, row := range s.rows {
		content := p.row(row)
		if content == "" {
			continue
		}
		id, ok := p.rows[content]
		if !ok {
			id = "r" + strconv.Itoa(len(p.rows))
			p.rows[content] = id
			fmt.Fprintf(&p.defs, "<g id=\"%s\">%s</g>\n", id, content)
		}
		fmt.Fprintf(&b, `<use href="#%s" y="%d"/>`, id, i*cellHeight+ascent)
	}
	if !s.hidden {
		fmt.Fprintf(&b, `<rect x="%s" y="%d" width="%s" height="%d" opacity=".75"/>`, number(cellWidth*float64(s.col)), s.row*cellHeight+1, number(cellWidth), cellHeight-2)
	}
	return b.String()
}

// row returns the elements of a row, relative to its baseline.
func (p *picture) row(row []cell) string {
	var b strings.Builder
	for i := 0; i < len(row); {
		ground := p.ground(row[i].style)
		n := run(row[i:], func(c cell) bool { return p.ground(c.style) == ground })
		if ground != "" {
			fmt.Fprintf(&b, `<rect class="g %s" x="%s" y="-%d" width="%s" height="%d"/>`, p.class("fill:"+ground), number(cellWidth*float64(i)), ascent, number(cellWidth*float64(n)), cellHeight)
		}
		i += n
	}
	for i := 0; i < len(row); {
		i += p.text(&b, row[i:], i)
	}
	return b.String()
}

// text draws the cells from column i that can be drawn as one element, and returns their number.
func (p *picture) text(b *strings.Builder, row []cell, i int) int {
	c := row[0]
	if c.text == "" || c.text == " " && !c.style.underlined && !c.style.struck {
		return 1
	}
	x := cellWidth * float64(i)
	same := func(other cell) bool { return other == c }
	r, size := utf8.DecodeRuneInString(c.text)
	if size == len(c.text) {
		n := run(row, same)
		if path, stroked := drawing(r, x, n); path != "" {
			p.path(b, path, stroked, c.style, shade(r))
			return n
		}
	}
	if !simple(c) {
		w := 1 + run(row[1:], func(next cell) bool { return next.text == "" })
		p.element(b, x, w, c.text, c.style)
		return w
	}
	text, n := "", run(row, func(next cell) bool { return simple(next) && next.style == c.style })
	for k, next := range row[:n] {
		blank := next.text == " " && !c.style.underlined && !c.style.struck
		if blank && (k+1 == n || row[k+1].text == " ") { // viewers differ in how they treat blanks
			n = k
			break
		}
		text += next.text
	}
	p.element(b, x, n, text, c.style)
	return n
}

// simple reports whether the character has the same width as others in every monospaced font.
func simple(c cell) bool { return len(c.text) == 1 }

// run returns the number of cells at the beginning of row for which ok holds.
func run(row []cell, ok func(cell) bool) int {
	if n := slices.IndexFunc(row, func(c cell) bool { return !ok(c) }); n >= 0 {
		return n
	}
	return len(row)
}

// element draws a text of n cells.
func (p *picture) element(b *strings.Builder, x float64, n int, text string, s style) {
	fmt.Fprintf(b, `<text x="%s"`, number(x))
	if utf8.RuneCountInString(text) > 1 { // fonts differ in their widths
		fmt.Fprintf(b, ` textLength="%s"`, number(cellWidth*float64(n)))
	}
	var classes []string
	if fill := p.fill(s); fill != "" {
		classes = append(classes, p.class("fill:"+fill))
	}
	for _, variant := range []struct {
		on           bool
		declarations string
	}{
		{s.bold, "font-weight:700"}, {s.faint, "opacity:.6"}, {s.italic, "font-style:italic"}, {s.underlined, "text-decoration:underline"}, {s.struck, "text-decoration:line-through"},
	} {
		if variant.on {
			classes = append(classes, p.class(variant.declarations))
		}
	}
	if len(classes) > 0 {
		fmt.Fprintf(b, ` class="%s"`, strings.Join(classes, " "))
	}
	if s.underlined || s.struck {
		text = strings.ReplaceAll(text, " ", "\u00a0")
	}
	fmt.Fprintf(b, ">%s</text>", escape(text))
}

// path draws a path in a style.
func (p *picture) path(b *strings.Builder, path string, stroked bool, s style, opacity string) {
	fill := p.fill(s)
	if fill == "" {
		fill = p.looks.Text
	}
	class := p.class("fill:" + fill)
	if stroked {
		class = "l " + p.class("stroke:"+fill)
	}
	if s.faint {
		opacity = ".6"
	}
	if opacity != "" {
		class += " " + p.class("opacity:"+opacity)
	}
	fmt.Fprintf(b, `<path class="%s" d="%s"/>`, class, path)
}

// fill returns the color of text, or "" for the default.
func (p *picture) fill(s style) string {
	if !s.inverted {
		return p.colour(s.text)
	}
	if ground := p.colour(s.ground); ground != "" {
		return ground
	}
	return p.looks.Ground
}

// ground returns the color of a background, or "" for the default.
func (p *picture) ground(s style) string {
	if !s.inverted {
		return p.colour(s.ground)
	}
	if text := p.colour(s.text); text != "" {
		return text
	}
	return p.looks.Text
}

// colour returns a color as #rrggbb, or "" for the default.
func (p *picture) colour(c colour) string {
	n := int(c & 0xffffff)
	switch {
	case c == 0:
		return ""
	case c&direct != 0:
		return fmt.Sprintf("#%06x", n)
	case n < 16:
		return p.looks.Palette[n]
	case n < 232:
		level := func(v int) int { return min(v, 1)*55 + 40*v }
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(n-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}

// escape returns text as XML, with a mark in place of characters that XML cannot contain.
func escape(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// number returns v with up to two decimals.
func number(v float64) string {
	text := strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	if text == "-0" {
		return "0"
	}
	return text
}
