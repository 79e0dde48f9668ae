package plain

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/desk"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A screen writes text line by line, and a prompt with what the user types.
type screen struct {
	w    io.Writer
	cfg  Config
	wrap draw.Wrapper

	column   bool // the current line is not empty
	prompted bool // the current line is the prompt with what is typed
}

// maxShown is the most lines of a display that are written.
const maxShown = 40

// write writes text as it is, below the prompt if there is one.
func (s *screen) write(text string) {
	if text == "" {
		return
	}
	if s.prompted {
		text = "\n" + text
		s.prompted = false
	}
	s.edit(text)
	s.prompted = false
}

// edit writes the prompt, or what is typed after it.
func (s *screen) edit(text string) {
	if text == "" {
		return
	}
	io.WriteString(s.w, text) // ok: a terminal that is gone ends the input, too
	s.column = !strings.HasSuffix(text, "\n")
	s.prompted = true
}

// entered notes that the line of the prompt is complete.
func (s *screen) entered() { s.column, s.prompted = false, false }

// fresh starts a new line unless the current one is empty.
func (s *screen) fresh() {
	s.write(s.wrap.End())
	switch {
	case s.prompted:
		s.edit("\n")
		s.entered()
	case s.column:
		s.write("\n")
	}
}

// line writes one line, which must be safe for the terminal.
func (s *screen) line(text string) {
	s.fresh()
	s.write(text + "\n")
}

// say writes text, wrapped and made safe for the terminal.
func (s *screen) say(text string) {
	s.fresh()
	s.wrap.Width = s.width()
	s.write(s.wrap.Add(text))
	s.fresh()
}

// fail says what went wrong, as a sentence.
func (s *screen) fail(err error) {
	text := err.Error()
	first, n := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if (unicode.IsLetter(last) || unicode.IsDigit(last) || last == '"') && !strings.HasPrefix(text, "usage:") {
		text += "."
	}
	s.say(string(unicode.ToUpper(first)) + text[n:])
}

func (s *screen) width() int {
	const comfortable = 100
	if w := s.cfg.Width(); w >= 20 {
		return min(w-1, comfortable)
	}
	return 79
}

// paragraph leaves an empty line before an answer.
func (s *screen) paragraph() {
	s.fresh()
	s.write("\n")
	s.column = false
}

// display writes a display, indented.
func (s *screen) display(d tool.Display) {
	s.page(desk.Page{Blocks: []desk.Block{desk.Output{Display: d}}})
}

// page writes a page.
func (s *screen) page(page desk.Page) { s.lines(draw.Page(page, s.options())) }

func (s *screen) lines(lines []string) {
	for _, line := range lines {
		s.line(line)
	}
}

func (s *screen) options() draw.Options {
	return draw.Options{Width: s.width(), Max: maxShown, Dir: s.cfg.Dir, Palette: s.cfg.Palette}
}

// whole writes a text for the user to approve. Nothing is left out.
func (s *screen) whole(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		s.say("  " + line)
	}
}
