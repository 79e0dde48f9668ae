package draw

import (
	"strings"

	"adze/internal/platform/term"
	"adze/internal/platform/term/cells"
)

// A Wrapper wraps streamed text between words. It holds a word back until it is complete. Tabs
// are preserved, so that they can be copied.
type Wrapper struct {
	// Width is the line width.
	Width int
	// Prose marks the text as prose without names or commands; see [term.SanitizeText].
	Prose bool

	column int
	blanks string // blanks before the word
	word   strings.Builder
	code   bool // inside a code fence
	whole  bool // do not break the line: it is code or a table row
}

// Add adds a piece of text and returns the text that is ready to be written, sanitized for a
// terminal.
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

// End returns the text held back. The next text begins on a new line.
func (w *Wrapper) End() string {
	var out strings.Builder
	w.flush(&out)
	w.column, w.blanks, w.code, w.whole = 0, "", false, false
	return out.String()
}

// flush writes the word, on a new line if it does not fit on the current one.
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
		w.whole = w.code || fence || strings.HasPrefix(word, "|") // kept verbatim, to be copied
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
