package draw

import (
	"strings"

	"adze/internal/platform/term"
	"adze/internal/platform/term/cells"
)

// A Role is the meaning of a piece of text. The theme maps it to a style.
type Role uint8

// The roles.
const (
	Text Role = iota
	Faint
	Strong
	Emphasis
	Struck
	Border // rules
	Accent // marks and selected items
	Good
	Bad
	Warning
	Added
	Removed
	AddedWord // changed words in an added line
	RemovedWord
	Heading
	Title // of a question or a page
	Code
	Keyword
	String
	Number
	Comment
	roles // number of roles
)

// A Ground is the meaning of a background. Not all themes have backgrounds.
type Ground uint8

// The grounds.
const (
	NoGround Ground = iota
	AddedGround
	RemovedGround
	AddedWordGround // changed words in an added line
	RemovedWordGround
	UserGround     // the user's messages
	SelectedGround // the selected item of a list
	grounds        // number of grounds
)

// A Span is a piece of a row.
type Span struct {
	Role   Role
	Ground Ground
	Else   Role // replaces Role in themes without backgrounds; Text keeps it
	// Fill extends the ground to the end of the line. It counts in the last span of a row.
	Fill bool
	Text string // arbitrary text; [Palette.Paint] sanitizes it
	Link string // a file:, http: or https: address; may be empty
	// Style overrides the role's style with escape sequence parameters or a color #rrggbb. It
	// may be empty, and has no effect without colors.
	Style string
}

// A Row is a terminal line, without its line end.
type Row []Span

// A RowArena allocates rows in large chunks. A nil RowArena allocates each row separately.
type RowArena struct{ spans []Span }

// pieceSize is the number of spans in a chunk.
const pieceSize = 128

// NewStock returns a stock with initial room for n spans.
func NewStock(n int) *RowArena { return &RowArena{make([]Span, 0, n)} }

// Reuse invalidates all rows so far and reuses their memory.
func (s *RowArena) Reuse() { s.spans = s.spans[:0] }

// Row returns an empty row with capacity for n spans.
func (s *RowArena) Row(n int) Row {
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
func (s *RowArena) Line(role Role, text string) Row {
	return append(s.Row(1), Span{Role: role, Text: text})
}

// Line returns a row of one span.
func Line(role Role, text string) Row { return Row{{Role: role, Text: text}} }

// String returns the row's text.
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

// Width returns the row's width in cells.
func (r Row) Width() int {
	n := 0
	for _, s := range r {
		n += cells.Width(s.Text)
	}
	return n
}

// Cut returns the row if it fits into n cells, otherwise as much of it as fits, followed by
// more; see [Glyphs].
func (r Row) Cut(n int, more string) Row {
	if r.Width() <= n {
		return r
	}
	var out Row
	for _, s := range r {
		w := cells.Width(s.Text)
		if w+cells.Width(more) > n { // the rest of the row does not fit
			s.Text = cells.Cut(s.Text+strings.Repeat(" ", max(0, n)+1), n, more)
			return append(append(out, s), r.ground()...)
		}
		out = append(out, s)
		n -= w
	}
	return out
}

// Slice returns the part of the row between two text offsets.
func (r Row) Slice(from, to int) Row { return (*RowArena)(nil).Slice(r, from, to) }

// Slice returns the part of a row between two text offsets. A part of a row that fills the line
// fills it too.
func (s *RowArena) Slice(r Row, from, to int) Row {
	ground, spans, at := r.ground(), 0, 0
	for i := 0; i < len(r) && at < to; i++ {
		if at += len(r[i].Text); at > from {
			spans++
		}
	}
	out := s.Row(spans + len(ground))
	for i := 0; i < len(r) && to > 0; i++ {
		n := len(r[i].Text)
		if from < n {
			span := r[i]
			span.Text = span.Text[max(0, from):min(n, to)]
			out = append(out, span)
		}
		from, to = from-n, to-n
	}
	return append(out, ground...)
}

// ground returns the span with which a row fills the line, or nothing.
func (r Row) ground() Row {
	if last := len(r) - 1; last >= 0 && r[last].Fill {
		return r[last:]
	}
	return nil
}

// On returns the row on a ground, which fills the line if fill is true.
func (r Row) On(g Ground, fill bool) Row {
	out := make(Row, len(r), len(r)+1)
	for i, s := range r {
		if s.Ground == NoGround {
			s.Ground = g
		}
		out[i] = s
	}
	if !fill {
		return out
	}
	return append(out, Span{Ground: g, Fill: true})
}

// In returns the row with role applied to each span without a role of its own.
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

// Indent prefixes rows: the first with head, the others with hang.
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

// Clean returns a line as it is measured and shown: see [term.Sanitize]. Tabs become blanks.
func Clean(line string) string {
	return strings.ReplaceAll(strings.ReplaceAll(term.Sanitize(line), "\t", "    "), "\n", " ")
}

// ExpandTabs replaces the tabs of a line of code by blanks, up to the next of the columns that
// are [CodeTab] apart.
func ExpandTabs(line string) string {
	if strings.IndexByte(line, '\t') < 0 {
		return line
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := CodeTab - column%CodeTab
			b.WriteString(Blank(n))
			column += n
		}
		b.WriteString(part)
		column += cells.Width(part)
	}
	return b.String()
}

// CodeTab is the distance between tab stops in code.
const CodeTab = 4

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
