package plain

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/desk"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/markdown"
	"adze/internal/ui/screen"
)

// A writer writes text line by line. Where the terminal can rewrite lines, what is not complete yet is kept in live rows
// at the end, with the input; elsewhere everything is appended.
type writer struct {
	w    io.Writer
	cfg  Config
	last time.Time // when something was written

	// Where lines are appended.
	wrap     draw.Wrapper
	column   bool // the current line is not empty
	prompted bool // the current line is the prompt with what is typed

	// Where there are live rows; see [writer.show].
	terminal *screen.Screen // nil elsewhere
	markdown markdown.Stream
	final    []string // lines that are not on the terminal yet

	unbounded bool // pages are written whole
}

func newWriter(cfg Config) writer {
	w := writer{w: cfg.Out, cfg: cfg, last: time.Now()}
	if cfg.Keys {
		w.terminal = screen.New(cfg.Out, func() (int, int) { return cfg.Width(), cfg.Height() }, cfg.Reflows)
		w.markdown.Marks, w.markdown.Links = !cfg.Palette.Coloured(), cfg.Palette.Links()
	}
	return w
}

// maxShown is the most lines of a display that are written.
const maxShown = 40

// write writes text as it is, below the prompt if there is one. Where there are live rows, it is whole lines.
func (w *writer) write(text string) {
	if text == "" {
		return
	}
	w.last = time.Now()
	if w.terminal != nil {
		w.final = append(w.final, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		return
	}
	if w.prompted {
		text = "\n" + text
	}
	w.put(text)
	w.prompted = false
}

// prompt writes the prompt, where the terminal shows what is typed after it.
func (w *writer) prompt(text string) {
	w.put(text)
	w.prompted = true
}

func (w *writer) put(text string) {
	io.WriteString(w.w, text) // ok: a terminal that is gone ends the input, too
	w.column = !strings.HasSuffix(text, "\n")
}

// entered notes that the line of the prompt is complete.
func (w *writer) entered() { w.column, w.prompted = false, false }

// fresh starts a new line unless the current one is empty.
func (w *writer) fresh() {
	if w.terminal != nil {
		w.final = append(w.final, w.cfg.Palette.Lines(w.markdown.End())...)
		return
	}
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

// speak writes more of a text that is to be read, wrapped.
func (w *writer) speak(text string) {
	if w.terminal != nil {
		w.last = time.Now()
		w.markdown.Width = w.width()
		w.final = append(w.final, w.cfg.Palette.Lines(w.markdown.Add(text))...)
		return
	}
	w.wrap.Width, w.wrap.Prose = w.width(), true
	w.write(w.wrap.Add(text))
}

// fail says what went wrong, as a sentence.
func (w *writer) fail(err error) {
	text := err.Error()
	first, n := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if (unicode.IsLetter(last) || unicode.IsDigit(last) || last == '"') && !strings.HasPrefix(text, "usage:") {
		text += "."
	}
	w.say(string(unicode.ToUpper(first)) + text[n:])
}

func (w *writer) width() int {
	const comfortable = 100
	if width := w.cfg.Width(); width >= 20 {
		return min(width-1, comfortable)
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
	w.page(desk.Page{Blocks: []desk.Block{desk.Output{Display: d}}})
}

// page writes a page.
func (w *writer) page(page desk.Page) { w.lines(draw.Page(page, w.options())) }

// lines writes rows that fit.
func (w *writer) lines(rows []draw.Row) {
	for _, row := range rows {
		w.fresh()
		w.write(w.cfg.Palette.Paint(row) + "\n")
	}
}

func (w *writer) options() draw.Options {
	o := draw.Options{Width: w.width(), Max: maxShown, Dir: w.cfg.Dir}
	if w.unbounded {
		o.Width, o.Max = 0, 0
	}
	return o
}

// pending returns the rows of what is not complete.
func (w *writer) pending() []draw.Row { return w.markdown.Rows() }

// show brings the terminal up to date: lines that are complete, and below them the given rows with the cursor.
func (w *writer) show(rows []string, caret screen.Point) {
	w.terminal.Frame(w.final, rows, caret)
	w.final = nil
}

// leave completes what was written and puts the cursor below it, for another program.
func (w *writer) leave() {
	w.fresh()
	if w.terminal != nil {
		w.show(nil, screen.Point{})
		w.terminal.Leave()
	}
}
