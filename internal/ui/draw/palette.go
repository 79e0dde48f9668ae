package draw

import (
	"cmp"
	"strings"

	"adze/internal/platform/term"
)

// A Palette turns rows into text for a terminal. The zero value gives plain text, for pipes and screen readers.
type Palette struct {
	styles [roles]string // the parameters of the escape sequence of each role
	links  bool
	files  Files
	colour bool
	deep   func(rgb [3]int) string // writes a colour
}

// Paint returns a row as it is written to a terminal. It is the one place where text becomes safe and is styled: rows
// may hold anything.
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
	style := "" // that is in force: spans of the same style share it
	for i := range r {
		style = p.span(&b, &r[i], style)
	}
	turn(&b, style, "")
	return b.String()
}

// escapes is about how many bytes the style of a span takes.
const escapes = 10

// bare reports whether a span is written as its text alone.
func (p *Palette) bare(s *Span) bool {
	return (!p.links || s.Link == "") && s.Style == "" && p.styles[s.Role] == ""
}

// safe returns a text that fits into a row and holds nothing that a terminal would obey.
func safe(text string) string { return strings.ReplaceAll(term.SanitizeText(text), "\n", " ") }

// span writes a span while a style is in force, and returns the one that is then.
func (p *Palette) span(b *strings.Builder, s *Span, now string) string {
	text := safe(s.Text)
	if text == "" {
		return now
	}
	style := cmp.Or(p.own(s.Style), p.styles[s.Role])
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

// turn writes what changes one style into another; "" is none.
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

// own returns the style of a span as it is written, or "" if it has none that can be.
func (p *Palette) own(style string) string {
	switch {
	case style == "" || !p.colour:
		return ""
	case style[0] == '#':
		return p.deep(parse(style))
	case len(style) > maxStyle || strings.Trim(style, "0123456789;") != "":
		return ""
	}
	return style
}

// maxStyle is the longest style of its own that a span can have.
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

// Coloured reports whether the palette tells roles apart by colours.
func (p Palette) Coloured() bool { return p.colour }

// Linked returns the palette with links, for a terminal that is known to bear them: those that rows hold, and names of
// files.
func (p Palette) Linked(files Files) Palette {
	p.links, p.files = true, files
	return p
}

// In returns the palette with the colours of another one.
func (p Palette) In(colours Palette) Palette {
	colours.links, colours.files = p.links, p.files
	return colours
}

// Unlinked returns the palette without links, for rows that change.
func (p Palette) Unlinked() Palette {
	p.links = false
	return p
}

// Links reports whether links are written.
func (p Palette) Links() bool { return p.links }

// maxAddress is the length of a link beyond which terminals do not take it.
const maxAddress = 2000

// address returns the target of a link as it may be written between escape sequences, or nothing if it may not: only
// files and pages are linked, and of their addresses nothing is left that a terminal could obey.
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
