package draw

import (
	"strings"

	"adze/internal/platform/term"
)

// A Palette turns rows into text for a terminal. The zero value gives plain text, for pipes and screen readers.
type Palette struct {
	styles [roles]string // the parameters of the escape sequence of each role
	links  bool
	files  Files
	colour bool
}

// Paint returns a row as it is written to a terminal. It is the one place where text becomes safe and is styled: rows
// may hold anything.
func (p Palette) Paint(r Row) string {
	if p.links {
		r = p.files.link(r)
	}
	var b strings.Builder
	for _, s := range r {
		p.span(&b, s)
	}
	return b.String()
}

func (p Palette) span(b *strings.Builder, s Span) {
	text := strings.ReplaceAll(term.SanitizeText(s.Text), "\n", " ")
	if text == "" {
		return
	}
	link := ""
	if p.links && s.Link != "" {
		link = address(s.Link)
	}
	if link != "" {
		b.WriteString("\x1b]8;;" + link + "\x1b\\")
	}
	if style := p.styles[s.Role]; style != "" {
		b.WriteString("\x1b[" + style + "m" + text + "\x1b[0m")
	} else {
		b.WriteString(text)
	}
	if link != "" {
		b.WriteString("\x1b]8;;\x1b\\")
	}
}

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
