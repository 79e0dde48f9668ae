package screen

import (
	"strings"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
)

// A row is a line as it is written.
type row struct {
	given  string // text passed by the caller
	text   string // contains only styles and links as sequences, and resets them at the end
	width  int
	used   int  // cells the terminal may count as part of the row since it was written from the beginning
	simple bool // printable ASCII only
	uneven bool // terminals differ in its width
	tabs   bool // contains tabs, whose width depends on the terminal
	fill   bool // erases to the end of the line in its background
}

// liveRow returns a row cut to width. Its tabs become blanks.
func liveRow(text string, width int) row {
	r := row{given: text}
	if plain(text) && len(text) <= width {
		r.text, r.width, r.simple = text, len(text), true
		return r
	}
	if !strings.ContainsAny(text, "\t\x1b") {
		text = cells.Cut(text, width, "")
	}
	r.read(text, width)
	return r
}

// unfilled returns the row without the fill, which would erase the last character of a row as
// wide as the terminal.
func (r row) unfilled() row {
	r.text, r.fill = strings.ReplaceAll(r.text, eraseLine, ""), false
	return r
}

// finalRow returns a line that is written whole. Its tabs are preserved, so that they can be
// copied.
func finalRow(text string) row {
	r := row{given: text}
	if plain(text) {
		r.text, r.width, r.simple = text, len(text), true
		return r
	}
	r.read(text, 0)
	return r
}

// plain reports whether text is printable ASCII.
func plain(text string) bool { return ascii(text) == len(text) }

// ascii returns the length of the printable ASCII prefix of text.
func ascii(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return i
		}
	}
	return len(text)
}

// read sets the text, cut to width unless width is 0.
func (r *row) read(text string, width int) {
	var b strings.Builder
	var c cluster
	var open pen
	b.Grow(len(text) + 4)
	for text != "" {
		if n := ascii(text); n > 0 {
			if width > 0 {
				n = min(n, width-r.width)
			}
			b.WriteString(text[:n])
			r.width += n
			if text = text[n:]; r.width == width && width > 0 && ascii(text) > 0 {
				break
			}
			c = cluster{}
			continue
		}
		n, kind := token(text)
		part := text[:n]
		text = text[n:]
		switch {
		case kind == style || kind == link:
			b.WriteString(part)
			open.take(part, kind)
			continue
		case kind == fillLine && width > 0: // blanks, because terminals differ in how they reflow erased cells
			n := max(0, width-r.width)
			b.WriteString(strings.Repeat(" ", n))
			r.width += n
			continue
		case kind == fillLine:
			b.WriteString(eraseLine)
			r.fill = true
			continue
		case kind == unsafe:
			continue
		}
		char, w := decode(part)
		switch {
		case part == "\t" && width == 0:
			r.tabs = true
			w = 8 - r.width%8
		case part == "\t":
			w = 8 - r.width%8
			part = strings.Repeat(" ", w)
		case char == utf8.RuneError && n == 1:
			part = string(utf8.RuneError)
		}
		if width > 0 && r.width+w > width {
			break
		}
		b.WriteString(part)
		c.next(char)
		r.uneven = r.uneven || c.uneven
		r.width += w
	}
	b.WriteString(open.close())
	r.text = b.String()
}

// A place is a position in a row: a text offset, the cell there, and the active sequences.
type place struct {
	offset, col int
	style       string
}

// common returns the place from which two rows differ.
func common(was, is row) place {
	n := 0
	for n < len(was.text) && n < len(is.text) && was.text[n] == is.text[n] {
		n++
	}
	if was.simple && is.simple {
		return place{offset: n, col: n}
	}
	var at, last place
	var open pen
	var c cluster
	for at.offset <= n {
		rest := is.text[at.offset:]
		size, kind := token(rest)
		// Zero-width characters belong to the preceding cell.
		if begins(c, rest) && begins(c, was.text[at.offset:]) {
			last = place{at.offset, at.col, open.String()}
		}
		if rest == "" || at.offset+size > n {
			break
		}
		at.offset += size
		if kind != character {
			open.take(rest[:size], kind)
			continue
		}
		r, w := decode(rest[:size])
		c.next(r)
		at.col += w
	}
	return last
}

// leastSaved is the minimum size of the rest of a row for not writing it again, in bytes.
const leastSaved = 8

// rejoin returns the place from which two rows are the same again, given the place from which
// they differ. It reports false if there is none, or writing the rest costs no more.
func rejoin(was, is row, from place) (place, bool) {
	if was.width != is.width || was.uneven || is.uneven || was.tabs || is.tabs || was.fill || is.fill {
		return place{}, false
	}
	n := 0
	for n < min(len(was.text), len(is.text))-from.offset && was.text[len(was.text)-1-n] == is.text[len(is.text)-1-n] {
		n++
	}
	if n < leastSaved {
		return place{}, false
	}
	before, now := was.place(from, len(was.text)-n), is.place(from, len(is.text)-n)
	ok := before.col == now.col && before.style == now.style && len(was.text)-before.offset == len(is.text)-now.offset &&
		len(is.text)-now.offset >= leastSaved && !strings.Contains(now.style, "\x1b]")
	return now, ok
}

// place returns the first place at or after a text offset, and after the place from.
func (r row) place(from place, offset int) place {
	var open pen
	for rest := from.style; rest != ""; {
		n, kind := token(rest)
		open.take(rest[:n], kind)
		rest = rest[n:]
	}
	at := from
	var c cluster
	for at.offset < len(r.text) && (at.offset < offset || !begins(c, r.text[at.offset:])) {
		n, kind := token(r.text[at.offset:])
		part := r.text[at.offset : at.offset+n]
		at.offset += n
		if kind != character {
			open.take(part, kind)
			continue
		}
		char, w := decode(part)
		c.next(char)
		at.col += w
	}
	at.style = open.String()
	return at
}

// begins reports whether text does not continue the preceding cluster.
func begins(c cluster, text string) bool {
	for text != "" {
		n, kind := token(text)
		if kind == character {
			r, _ := decode(text[:n])
			return c.next(r)
		}
		text = text[n:]
	}
	return true
}

// decode returns the first character of text and its width.
func decode(text string) (rune, int) {
	if text[0] < utf8.RuneSelf {
		return rune(text[0]), 1
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r, cells.Of(r)
}
