package draw

import (
	"cmp"
	"strings"

	"adze/internal/platform/term"
)

// A Palette converts rows to terminal output. The zero value produces plain text, for pipes and
// screen readers.
type Palette struct {
	styles  [roles]string   // escape sequence parameters of each role
	grounds [grounds]string // and of each background; all are empty in themes without
	links   bool
	files   Files
	colour  bool
	deep    bool // 24-bit color
}

// Paint returns a row as terminal output. It is the only place where text is sanitized and
// styled: rows may contain arbitrary text.
func (p Palette) Paint(r Row) string {
	if p.links {
		r = p.files.link(r)
	}
	if len(r) == 1 && p.bare(&r[0]) {
		return safe(r[0].Text)
	}
	size := 0
	for i := range r {
		if size += len(r[i].Text); !p.bare(&r[i]) {
			size += escapes
		}
	}
	var b strings.Builder
	b.Grow(size)
	style := "" // current style, shared by consecutive spans
	for i := range r {
		style = p.span(&b, &r[i], style)
	}
	if last := len(r) - 1; last >= 0 && r[last].Fill && p.grounds[r[last].Ground] != "" {
		turn(&b, style, p.grounds[r[last].Ground])
		b.WriteString(fill)
		style = p.grounds[r[last].Ground]
	}
	turn(&b, style, "")
	return b.String()
}

// fill erases to the end of the line, in the current background.
const fill = "\x1b[K"

// escapes is the approximate size of a span's style in bytes.
const escapes = 10

// bare reports whether a span is written as its text alone.
func (p *Palette) bare(s *Span) bool {
	return (!p.links || s.Link == "") && p.style(s) == ""
}

// safe returns text on one line and without anything a terminal would interpret.
func safe(text string) string { return strings.ReplaceAll(term.SanitizeText(text), "\n", " ") }

// span writes a span, given the current style, and returns the new current style.
func (p *Palette) span(b *strings.Builder, s *Span, now string) string {
	text := safe(s.Text)
	if text == "" {
		return now
	}
	style := p.style(s)
	link := ""
	if p.links && s.Link != "" {
		link = address(s.Link)
	}
	if link == "" {
		turn(b, now, style)
		b.WriteString(text)
		return style
	}
	turn(b, now, "")
	b.WriteString("\x1b]8;;")
	b.WriteString(link)
	b.WriteString("\x1b\\")
	turn(b, "", style)
	b.WriteString(text)
	turn(b, style, "")
	b.WriteString("\x1b]8;;\x1b\\")
	return ""
}

// style returns a span's escape sequence parameters.
func (p *Palette) style(s *Span) string {
	style, ground := cmp.Or(p.own(s.Style), p.styles[s.Role]), p.grounds[s.Ground]
	switch {
	case ground == "" && s.Else != Text:
		return p.styles[s.Else]
	case style == "" || ground == "":
		return style + ground
	}
	return style + ";" + ground
}

// turn writes the escape sequence that changes one style into another; "" means no style.
func turn(b *strings.Builder, from, to string) {
	if from == to {
		return
	}
	if from != "" {
		b.WriteString("\x1b[0m")
	}
	if to != "" {
		b.WriteString("\x1b[")
		b.WriteString(to)
		b.WriteByte('m')
	}
}

// own returns a span's own style as escape sequence parameters, or "" if it has no valid one.
func (p *Palette) own(style string) string {
	switch {
	case style == "" || !p.colour:
		return ""
	case style[0] == '#':
		return p.colourOf(style)
	case len(style) > maxStyle || strings.Trim(style, "0123456789;") != "":
		return ""
	}
	return style
}

// maxStyle is the maximum length of a span's own style.
const maxStyle = 100

// Lines paints rows.
func (p Palette) Lines(rows []Row) []string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = p.Paint(r)
	}
	return lines
}

// Text paints rows as lines of a text, without a line end after the last.
func (p Palette) Text(rows []Row) string { return strings.Join(p.Lines(rows), "\n") }

// Highlight reports whether the palette uses colors.
func (p Palette) Coloured() bool { return p.colour }

// Linked returns the palette with hyperlinks enabled, for terminals known to support them. Both
// links in rows and file names are linked.
func (p Palette) Linked(files Files) Palette {
	p.links, p.files = true, files
	return p
}

// In returns the palette with another palette's colors.
func (p Palette) In(colours Palette) Palette {
	colours.links, colours.files = p.links, p.files
	return colours
}

// Unlinked returns the palette with links disabled, for rows that change.
func (p Palette) Unlinked() Palette {
	p.links = false
	return p
}

// Links reports whether links are written.
func (p Palette) Links() bool { return p.links }

// maxAddress is the maximum length of a link that terminals accept.
const maxAddress = 2000

// address returns a link target that is safe to write inside an escape sequence, or "". Only
// file and web addresses are linked, and anything a terminal could interpret is removed.
func address(link string) string {
	if !strings.HasPrefix(link, "file://") && !strings.HasPrefix(link, "http://") && !strings.HasPrefix(link, "https://") {
		return ""
	}
	var b strings.Builder
	for i := range len(link) {
		if c := link[i]; c > ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	if b.Len() > maxAddress {
		return ""
	}
	return b.String()
}
