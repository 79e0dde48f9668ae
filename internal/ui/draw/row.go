package draw

import (
	"strings"

	"adze/internal/platform/cells"
	"adze/internal/platform/term"
)

// A Role says what a piece of text is. The theme gives it a style.
type Role uint8

// The roles.
const (
	Text Role = iota
	Faint
	Strong
	Emphasis
	Struck
	Accent // marks, and what is chosen
	Good
	Bad
	Warning
	Added
	Removed
	AddedWord // the words that changed in a line that was added
	RemovedWord
	Heading
	Code
	Keyword
	String
	Number
	Comment
	roles // how many there are
)

// A Span is a piece of a row.
type Span struct {
	Role Role
	Text string // anything at all: [Palette.Paint] makes it safe
	Link string // a file:, http: or https: address; may be empty
	// Style is a style of its own in place of that of the role: parameters of the escape sequence, or a colour #rrggbb. It
	// may be empty, and has no effect where there are no colours.
	Style string
}

// A Row is a line of a terminal, without its line end.
type Row []Span

// A Stock is memory for rows: many are cut from one piece. A nil stock makes each row by itself.
type Stock struct{ spans []Span }

// pieceSize is how many spans a piece of memory holds.
const pieceSize = 128

// NewStock returns a stock for rows that have n spans together. More are possible.
func NewStock(n int) *Stock { return &Stock{make([]Span, 0, n)} }

// Reuse has the memory of all rows so far used again.
func (s *Stock) Reuse() { s.spans = s.spans[:0] }

// Row returns an empty row with room for n spans.
func (s *Stock) Row(n int) Row {
	if s == nil {
		return make(Row, 0, n)
	}
	if cap(s.spans)-len(s.spans) < n {
		s.spans = make([]Span, 0, max(n, pieceSize))
	}
	at := len(s.spans)
	s.spans = s.spans[:at+n]
	return Row(s.spans[at : at : at+n])
}

// Line returns a row of one span.
func (s *Stock) Line(role Role, text string) Row {
	return append(s.Row(1), Span{Role: role, Text: text})
}

// Line returns a row of one span.
func Line(role Role, text string) Row { return Row{{Role: role, Text: text}} }

// String returns the text of the row.
func (r Row) String() string {
	if len(r) == 1 {
		return r[0].Text
	}
	size := 0
	for _, s := range r {
		size += len(s.Text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, s := range r {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width returns how many cells the row takes.
func (r Row) Width() int {
	n := 0
	for _, s := range r {
		n += cells.Width(s.Text)
	}
	return n
}

// Cut returns the row if it fits into n cells, and otherwise as much of it as fits with more behind it; see [Glyphs].
func (r Row) Cut(n int, more string) Row {
	if r.Width() <= n {
		return r
	}
	var out Row
	for _, s := range r {
		w := cells.Width(s.Text)
		if w+cells.Width(more) > n { // the rest of the row does not fit
			s.Text = cells.Cut(s.Text+strings.Repeat(" ", max(0, n)+1), n, more)
			return append(out, s)
		}
		out = append(out, s)
		n -= w
	}
	return out
}

// Slice returns the part of the row between two offsets in its text.
func (r Row) Slice(from, to int) Row { return (*Stock)(nil).Slice(r, from, to) }

// Slice returns the part of a row between two offsets in its text.
func (s *Stock) Slice(r Row, from, to int) Row {
	spans, at := 0, 0
	for i := 0; i < len(r) && at < to; i++ {
		if at += len(r[i].Text); at > from {
			spans++
		}
	}
	out := s.Row(spans)
	for i := 0; i < len(r) && to > 0; i++ {
		n := len(r[i].Text)
		if from < n {
			span := r[i]
			span.Text = span.Text[max(0, from):min(n, to)]
			out = append(out, span)
		}
		from, to = from-n, to-n
	}
	return out
}

// In returns the row with each span in role that has no role of its own.
func (r Row) In(role Role) Row {
	out := make(Row, len(r))
	for i, s := range r {
		if s.Role == Text {
			s.Role = role
		}
		out[i] = s
	}
	return out
}

// Indent returns rows behind a head: the first one behind head itself, the others behind hang.
func Indent(rows []Row, head, hang Row) []Row {
	out := make([]Row, len(rows))
	for i, row := range rows {
		if i > 0 {
			head = hang
		}
		out[i] = append(append(make(Row, 0, len(head)+len(row)), head...), row...)
	}
	return out
}

// Clean returns a line of text as it is measured and shown: see [term.Sanitize]. Tabs become blanks.
func Clean(line string) string {
	return strings.ReplaceAll(strings.ReplaceAll(term.Sanitize(line), "\t", "    "), "\n", " ")
}

// Blanks returns a row of n blanks.
func Blanks(n int) Row { return Line(Text, Blank(n)) }

// Blank returns n blanks.
func Blank(n int) string {
	const some = "                                                                "
	if n <= len(some) {
		return some[:max(0, n)]
	}
	return strings.Repeat(" ", n)
}
