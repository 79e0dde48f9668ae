package draw

import (
	"strings"
	"unicode/utf8"

	"adze/internal/platform/cells"
	"adze/internal/platform/term"
)

// tabStop is the distance between the columns to which a tab goes.
const tabStop = 8

// A Wrapper wraps text that arrives in pieces, between words. It holds a word back until it is complete. Tabs stay
// tabs: who copies a text wants them.
type Wrapper struct {
	// Width is the width of a line.
	Width int
	// Prose says that the text is to be read, and holds no names or commands; see [term.SanitizeText].
	Prose bool

	column int
	blanks string // before the word
	word   strings.Builder
	code   bool // the lines are code, between fences
	whole  bool // the line is not broken: it is code, or a row of a table
}

// Add takes a piece of text and returns what can be written so far, safe for a terminal.
func (w *Wrapper) Add(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch r {
		case '\n':
			w.flush(&out)
			out.WriteByte('\n')
			w.column, w.blanks, w.whole = 0, "", w.code
		case ' ', '\t':
			w.flush(&out)
			w.blanks += string(r)
		default:
			w.word.WriteRune(r)
		}
	}
	return out.String()
}

// End returns what was held back. The next text begins on a new line.
func (w *Wrapper) End() string {
	var out strings.Builder
	w.flush(&out)
	w.column, w.blanks, w.code, w.whole = 0, "", false, false
	return out.String()
}

// flush writes the word, on the next line if it does not fit on this one.
func (w *Wrapper) flush(out *strings.Builder) {
	clean := term.Sanitize
	if w.Prose {
		clean = term.SanitizeText
	}
	word := clean(w.word.String())
	w.word.Reset()
	if word == "" {
		return
	}
	if w.Prose && w.column == 0 {
		fence := strings.HasPrefix(word, "```")
		w.code = w.code != fence
		w.whole = w.code || fence || strings.HasPrefix(word, "|") // as it is, to be copied
	}
	length := cells.Width(word)
	column := advance(w.column, w.blanks)
	if w.column > 0 && column+length > w.Width && !w.whole {
		out.WriteByte('\n')
		column, w.blanks = 0, ""
	}
	out.WriteString(w.blanks + word)
	w.column, w.blanks = column+length, ""
}

// advance returns the column after text that begins in a column.
func advance(column int, text string) int {
	for _, r := range text {
		if r == '\t' {
			column += tabStop - column%tabStop
		} else {
			column += cells.Of(r)
		}
	}
	return column
}

// Wrap breaks one line of safe text, which may hold styles, between words. The lines after the first begin with hang. A
// word that is wider than a line stays whole, so that it can be copied; between ideographs, every place will do.
func Wrap(text string, width int, hang string) []string {
	if width <= 0 {
		return []string{text}
	}
	b := breaker{width: width, hang: hang, indent: cells.Width(hang)}
	for len(text) > 0 {
		if n := styleLen(text); n > 0 {
			b.word += text[:n]
			if b.next = text[:n]; b.next == reset {
				b.next = ""
			}
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == ' ' || r == '\t':
			b.flush()
			b.blanks += text[:n]
		case cells.Of(r) == 2:
			b.flush()
			b.add(text[:n], 2)
		default:
			b.add(text[:n], cells.Of(r))
		}
		text = text[n:]
	}
	b.flush()
	return append(b.lines, b.line.String())
}

// Fold breaks each line of safe text between words.
func Fold(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Wrap(line, width, "")...)
	}
	return strings.Join(lines, "\n")
}

// reset ends a style.
const reset = "\x1b[0m"

// A breaker is the state of [Wrap].
type breaker struct {
	width, indent int
	hang          string
	lines         []string
	line          strings.Builder
	column        int
	begun         bool // the line has a word
	blanks        string
	word          string
	cells         int    // of word
	style, next   string // in force at the start and at the end of word
}

func (b *breaker) add(text string, n int) {
	b.word += text
	b.cells += n
}

func (b *breaker) flush() {
	if b.word == "" {
		return
	}
	column := advance(b.column, b.blanks)
	if b.begun && b.cells > 0 && column+b.cells > b.width {
		if b.style != "" {
			b.line.WriteString(reset)
		}
		b.lines = append(b.lines, b.line.String())
		b.line.Reset()
		b.line.WriteString(b.hang + b.style)
		column, b.blanks = b.indent, ""
	}
	b.line.WriteString(b.blanks + b.word)
	b.begun = b.begun || b.cells > 0
	b.column, b.blanks, b.style = column+b.cells, "", b.next
	b.word, b.cells = "", 0
}

// styleLen returns the length of the style sequence that text begins with, or 0.
func styleLen(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	return strings.IndexByte(text, 'm') + 1
}
