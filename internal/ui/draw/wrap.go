package draw

import (
	"strings"

	"adze/internal/platform/cells"
	"adze/internal/platform/term"
)

// A Wrapper wraps text that arrives in pieces, between words. It holds a word back until it is complete.
type Wrapper struct {
	// Width is the width of a line.
	Width int

	column int
	blanks string // before the word
	word   strings.Builder
}

// Add takes a piece of text and returns what can be written so far, safe for a terminal.
func (w *Wrapper) Add(text string) string {
	var out strings.Builder
	for _, r := range term.Sanitize(text) {
		switch r {
		case '\n':
			w.flush(&out)
			out.WriteByte('\n')
			w.column, w.blanks = 0, ""
		case ' ', '\t':
			w.flush(&out)
			w.blanks += " "
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
	w.column, w.blanks = 0, ""
	return out.String()
}

// flush writes the word, on the next line if it does not fit on this one.
func (w *Wrapper) flush(out *strings.Builder) {
	word := w.word.String()
	if word == "" {
		return
	}
	length := cells.Width(word)
	if w.column > 0 && w.column+len(w.blanks)+length > w.Width {
		out.WriteByte('\n')
		w.column, w.blanks = 0, ""
	}
	out.WriteString(w.blanks + word)
	w.column += len(w.blanks) + length
	w.blanks = ""
	w.word.Reset()
}
