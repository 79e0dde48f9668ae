package plain

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/commands"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A writer appends text to the screen.
type writer struct {
	w    io.Writer
	cfg  Config
	last time.Time // time of the last write

	wrap     draw.Wrapper
	column   bool // the current line is not empty
	prompted bool // the current line is the prompt with typed text

	unbounded bool // pages are written whole
}

func newWriter(cfg Config) writer {
	return writer{w: cfg.Out, cfg: cfg, last: time.Now()}
}

// maxShown is the maximum number of lines written of a display.
const maxShown = 40

// write writes text verbatim, below the prompt if there is one.
func (w *writer) write(text string) {
	if text == "" {
		return
	}
	w.last = time.Now()
	if w.prompted {
		text = "\n" + text
	}
	w.put(text)
	w.prompted = false
}

// prompt writes the prompt, after which the terminal echoes typed text.
func (w *writer) prompt(text string) {
	w.put(text)
	w.prompted = true
}

func (w *writer) put(text string) {
	io.WriteString(w.w, text) // ok: a terminal that is gone ends the input, too
	w.column = !strings.HasSuffix(text, "\n")
}

// entered records that the line of the prompt is complete.
func (w *writer) entered() { w.column, w.prompted = false, false }

// fresh starts a new line unless the current one is empty.
func (w *writer) fresh() {
	w.write(w.wrap.End())
	switch {
	case w.prompted:
		w.put("\n")
		w.entered()
	case w.column:
		w.write("\n")
	}
}

// line writes one line, wrapped.
func (w *writer) line(spans ...draw.Span) { w.lines(draw.Wrap(spans, w.width(), draw.Blanks(2))) }

// say writes text, wrapped.
func (w *writer) say(text string) { w.lines(draw.Fill(draw.Text, text, w.width())) }

// speak writes more of a streamed text, wrapped.
func (w *writer) speak(text string) {
	w.wrap.Width, w.wrap.Prose = w.width(), true
	w.write(w.wrap.Add(text))
}

// fail writes an error as a sentence.
func (w *writer) fail(err error) {
	text := err.Error()
	first, n := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if (unicode.IsLetter(last) || unicode.IsDigit(last) || last == '"') && !strings.HasPrefix(text, "usage:") {
		text += "."
	}
	w.say(string(unicode.ToUpper(first)) + text[n:])
}

// width returns the width of prose, and pageWidth that of pages.
func (w *writer) width() int {
	const comfortable = 100
	return min(w.pageWidth(), comfortable)
}

func (w *writer) pageWidth() int {
	if width := w.cfg.Width(); width >= 20 {
		return width - 1
	}
	return 79
}

// paragraph leaves an empty line before an answer.
func (w *writer) paragraph() {
	w.fresh()
	w.write("\n")
	w.column = false
}

// display writes a display, indented.
func (w *writer) display(d tool.Display) {
	w.page(commands.Page{Blocks: []commands.Block{commands.Output{Display: d}}})
}

// page writes a page.
func (w *writer) page(page commands.Page) { w.lines(draw.Page(page, w.options())) }

// lines writes rows that already fit.
func (w *writer) lines(rows []draw.Row) {
	for _, row := range rows {
		w.fresh()
		w.write(w.cfg.Palette.Paint(row) + "\n")
	}
}

func (w *writer) options() draw.Options {
	o := draw.Options{Width: w.pageWidth(), Max: maxShown, Dir: w.cfg.Dir, Glyphs: w.cfg.Glyphs}
	if w.unbounded {
		o.Width, o.Max = 0, 0
	}
	return o
}
