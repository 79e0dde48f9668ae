package transcript

import (
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// A group determines which parts are separated by an empty row: calls are not, and neither are
// notes.
type group uint8

const (
	nothing group = iota
	promptGroup
	speechGroup
	callGroup
	noteGroup
	questionGroup // rows written by a question
)

// apart reports whether an empty row separates two parts. The outcome of a call follows the
// question about it.
func apart(a, b group) bool {
	return a != b && !(a == questionGroup && b == callGroup) || a == promptGroup || a == speechGroup
}

// A part is an element of a transcript.
type part struct {
	content
	begun  bool // some of its rows are final
	closed bool // no longer changes
	final  bool // all of its rows are final
}

// A content is the content of a part.
type content interface {
	group() group
	// take returns the rows that have become final since the last call, or all remaining rows
	// if the part is closed.
	take(v view, closed bool) []draw.Row
	// live returns the rows that are not final.
	live(v view, closed bool) []draw.Row
	// whole returns everything, with nothing omitted.
	whole(v view) []section
}

// A view determines how rows are drawn.
type view struct {
	Config
	w        int // row width in cells
	prose    int // prose width in cells
	now      time.Time
	keys     Keys
	thinking bool
	moves    bool // the glyph of the current activity moves
}

// maxProse is the maximum width of prose; wider rows are hard to read.
const maxProse = 96

// cut returns a row cut to n cells.
func (v view) cut(r draw.Row, n int) draw.Row {
	if fits(r, n) {
		return r
	}
	var out draw.Row
	n -= cells.Width(v.Glyphs.More)
	for _, s := range r {
		s.Text = draw.Clean(s.Text)
		used := 0
		for i, c := range s.Text {
			if used += cells.Of(c); used > n {
				s.Text = s.Text[:i] + v.Glyphs.More
				return append(out, s)
			}
		}
		n -= used
		out = append(out, s)
	}
	return out
}

// fits reports whether a row needs no cutting. It does not measure all of a long one.
func fits(r draw.Row, n int) bool {
	size := 0
	for _, s := range r {
		if size += len(s.Text); strings.IndexByte(s.Text, '\t') >= 0 {
			return false
		}
	}
	return size <= n || size <= 8*n && r.Width() <= n
}

// indented returns rows indented by two cells; empty ones stay empty.
func indented(rows []draw.Row) []draw.Row {
	out := make([]draw.Row, len(rows))
	for i, row := range rows {
		if len(row) > 0 {
			out[i] = append(draw.Blanks(2), row...)
		}
	}
	return out
}

// wrap breaks a text into rows of prose, indented by two cells.
func (v view) wrap(role draw.Role, text string) []draw.Row {
	return indented(draw.Fill(role, text, max(8, v.prose-2)))
}

// A prompt is a user message.
type prompt struct {
	text  string
	brief string // text with placeholders for pasted text
}

// maxPrompt is the maximum number of lines shown of a prompt.
const maxPrompt = 20

func (p *prompt) group() group                        { return promptGroup }
func (p *prompt) take(v view, closed bool) []draw.Row { return p.rows(v, maxPrompt) }
func (p *prompt) live(v view, closed bool) []draw.Row { return p.rows(v, maxPrompt) }
func (p *prompt) whole(v view) []section              { return sections(p.rows(v, 0)) }

func (p *prompt) rows(v view, most int) []draw.Row {
	text, left := p.text, 0
	if most > 0 {
		text, left = head(p.brief, most, most*v.prose)
	}
	rows := draw.Fill(draw.Strong, text, max(8, v.prose-2))
	rows = draw.Indent(rows, draw.Row{{Role: draw.Accent, Text: v.Glyphs.Prompt + " "}}, draw.Blanks(2))
	if left > 0 {
		rows = append(rows, draw.Line(draw.Faint, "  "+v.Glyphs.More+" "+count(left, "more line")))
	}
	for i, row := range rows {
		rows[i] = row.On(draw.UserGround, true)
	}
	return rows
}

// head returns at most the given number of lines and bytes of a text, and how many lines
// remain.
func head(text string, lines, size int) (string, int) {
	end := 0
	for range lines {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			end = len(text)
			break
		}
		end += n + 1
	}
	shown := text[:min(end, size)]
	if shown == text {
		return text, 0
	}
	shown = strings.ToValidUTF8(shown, "")
	return strings.TrimRight(shown, "\n"), max(1, strings.Count(text[len(shown):], "\n"))
}

// A note is a message from the program.
type note struct {
	role draw.Role
	mark string
	text string
}

func (n *note) group() group                        { return noteGroup }
func (n *note) take(v view, closed bool) []draw.Row { return n.rows(v) }
func (n *note) live(v view, closed bool) []draw.Row { return n.rows(v) }
func (n *note) whole(v view) []section              { return sections(n.rows(v)) }

func (n *note) rows(v view) []draw.Row {
	mark := n.mark
	if n.role == draw.Warning {
		mark = "!"
	}
	if mark == "" {
		return draw.Fill(n.role, n.text, v.prose)
	}
	rows := draw.Fill(draw.Text, n.text, max(8, v.prose-2))
	return draw.Indent(rows, draw.Row{{Role: n.role, Text: mark + " "}}, draw.Blanks(2))
}

// A sheet is a command page.
type sheet struct {
	page commands.Page
	max  int // lines of a display; 0 means all
	head int // rows of the page; 0 means all
}

// maxShown is the maximum number of lines of a display on a page.
const maxShown = 40

func (s *sheet) group() group                        { return noteGroup }
func (s *sheet) take(v view, closed bool) []draw.Row { return s.begun(v) }
func (s *sheet) live(v view, closed bool) []draw.Row { return s.begun(v) }
func (s *sheet) whole(v view) []section              { return sections(s.rows(v, 0)) }

// begun returns the beginning of the page, if not all of it is shown.
func (s *sheet) begun(v view) []draw.Row {
	rows := s.rows(v, s.max)
	if s.head == 0 || len(rows) <= s.head {
		return rows
	}
	return append(rows[:s.head:s.head], draw.Line(draw.Faint, v.more(len(rows)-s.head, "row")))
}

func (s *sheet) rows(v view, most int) []draw.Row {
	return draw.Page(s.page, draw.Options{Width: v.w, Max: most, Dir: v.Dir, Glyphs: v.Glyphs})
}
