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
}

// A Row is a line of a terminal, without its line end.
type Row []Span

// Line returns a row of one span.
func Line(role Role, text string) Row { return Row{{Role: role, Text: text}} }

// String returns the text of the row.
func (r Row) String() string {
	if len(r) == 1 {
		return r[0].Text
	}
	var b strings.Builder
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

// Cut returns the row if it fits into n cells, and otherwise as much of it as fits with an ellipsis.
func (r Row) Cut(n int) Row {
	if r.Width() <= n {
		return r
	}
	var out Row
	for _, s := range r {
		w := cells.Width(s.Text)
		if w >= n { // the rest of the row does not fit
			s.Text = cells.Cut(s.Text+"…", n, "…")
			return append(out, s)
		}
		out = append(out, s)
		n -= w
	}
	return out
}

// Slice returns the part of the row between two offsets in its text.
func (r Row) Slice(from, to int) Row {
	var out Row
	for _, s := range r {
		n := len(s.Text)
		if from < n && to > 0 {
			s.Text = s.Text[max(0, from):min(n, to)]
			out = append(out, s)
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
func Blanks(n int) Row { return Line(Text, strings.Repeat(" ", max(0, n))) }
