package draw

import (
	"strings"

	"adze/internal/commands"
)

// fillRoles are the roles of the parts of a bar. Its rest is faint.
var fillRoles = [...]Role{Accent, Keyword, Good, Warning}

// bar renders a bar after its title, or below it in a narrow window, and its legend.
func (o Options) bar(b commands.Bar) []Row {
	const most, usual, least = 100, 60, 20
	title := Line(Strong, Clean(b.Title))
	width := usual
	if o.Width > 0 {
		width = min(most, o.Width-title.Width()-2)
	}
	var rows []Row
	if width >= least {
		rows = []Row{append(append(title, Span{Text: "  "}), o.fill(b, width)...)}
	} else {
		rows = []Row{title, o.fill(b, max(1, min(most, o.Width)))}
	}
	return append(rows, o.legend(b)...)
}

// fill returns the bar in n cells. A part that is not empty takes at least one cell.
func (o Options) fill(b commands.Bar, n int) (row Row) {
	total := max(1, b.Rest.Size)
	for _, p := range b.Parts {
		total += p.Size
	}
	left := n
	for i, p := range b.Parts {
		if size := min(left, max(1, p.Size*n/total)); p.Size > 0 {
			mark := o.mark(i)
			mark.Text = strings.Repeat(mark.Text, size)
			row, left = append(row, mark), left-size
		}
	}
	return append(row, Span{Role: Faint, Text: strings.Repeat(o.rest().Text, left)})
}

// mark returns a cell of part i of a bar, and rest one of its rest.
func (o Options) mark(i int) Span {
	i = min(i, len(fillRoles)-1)
	return Span{Role: fillRoles[i], Text: o.marks().Fills[i]}
}

func (o Options) rest() Span { return Span{Role: Faint, Text: o.marks().Fills[len(fillRoles)]} }

// legend names the parts of a bar and its rest, as many in a row as fit.
func (o Options) legend(b commands.Bar) (rows []Row) {
	add := func(mark Span, p commands.BarPart) {
		entry := Row{mark, {Text: " " + Clean(p.Name)}, {Role: Faint, Text: " " + Clean(p.Text)}}
		last := len(rows) - 1
		if last < 0 || o.Width > 0 && rows[last].Width()+3+entry.Width() > o.Width {
			rows = append(rows, entry)
			return
		}
		rows[last] = append(append(rows[last], Span{Text: "   "}), entry...)
	}
	for i, p := range b.Parts {
		add(o.mark(i), p)
	}
	if b.Rest.Name != "" {
		add(o.rest(), b.Rest)
	}
	return rows
}
