package draw

import (
	"slices"
	"strings"

	"adze/internal/desk"
	"adze/internal/platform/cells"
	"adze/internal/platform/term"
)

// Page returns a page as lines without line ends, safe for a terminal.
func Page(p desk.Page, o Options) []string {
	var lines []string
	for _, b := range p.Blocks {
		lines = append(lines, o.block(b)...)
	}
	return lines
}

// Choices returns a list as lines, each choice with its number.
func Choices(l desk.List, o Options) []string {
	lines := Page(l.Page, o)
	for i, c := range l.Choices {
		text := c.Title
		if c.About != "" {
			text += "  (" + c.About + ")"
		}
		lines = append(lines, o.hang(cells.Right(number(i+1), 3)+"  ", text)...)
	}
	return lines
}

// indent is put before indented lines.
const indent = "  "

func (o Options) block(b desk.Block) []string {
	switch b := b.(type) {
	case desk.Text:
		return o.wrap(string(b))
	case desk.Notice:
		return o.hang(indent+"note: ", string(b))
	case desk.Fields:
		return o.fields(b)
	case desk.Table:
		return o.table(b)
	case desk.Terms:
		return o.terms(b)
	case desk.Items:
		var lines []string
		for _, item := range b {
			lines = append(lines, o.hang(indent, item)...)
		}
		return lines
	case desk.Output:
		inner := o
		inner.Width = max(0, o.Width-len(indent))
		lines := Lines(b.Display, inner)
		for i := range lines {
			lines[i] = indent + lines[i]
		}
		return lines
	}
	return nil
}

// wrap breaks text into lines that fit.
func (o Options) wrap(text string) []string {
	if o.Width == 0 {
		return strings.Split(safe(text), "\n")
	}
	w := Wrapper{Width: o.Width}
	return strings.Split(w.Add(text)+w.End(), "\n")
}

// hang returns text after head, with further lines indented to the width of head. Leading blanks of text are kept.
func (o Options) hang(head, text string) []string {
	text = oneLine(text)
	if o.Width == 0 {
		return []string{head + text}
	}
	column := cells.Width(head)
	inner := Wrapper{Width: max(20, o.Width-column)}
	var lines []string
	for i, line := range strings.Split(inner.Add(text)+inner.End(), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", column)
		}
		lines = append(lines, head+line)
	}
	return lines
}

// terms puts the texts beside their names, or below a name that is long.
func (o Options) terms(terms desk.Terms) []string {
	const most = 20 // cells of a name that its text is beside
	widest := 0
	for _, t := range terms {
		widest = max(widest, cells.Width(t.Name))
	}
	column := min(widest, most)
	if o.Width > 0 {
		column = min(column, max(4, o.Width/4))
	}
	var lines []string
	for _, t := range terms {
		name := oneLine(t.Name)
		if cells.Width(name) > column {
			lines = append(lines, o.hang(indent, name)...)
			name = ""
		}
		lines = append(lines, o.hang(indent+cells.Left(name, column)+"  ", t.Text)...)
	}
	return lines
}

func (o Options) fields(fields desk.Fields) []string {
	widest := 0
	for _, f := range fields {
		widest = max(widest, cells.Width(f.Name))
	}
	var lines []string
	for _, f := range fields {
		lines = append(lines, o.hang(cells.Left(f.Name+":", widest+3), f.Value)...)
	}
	return lines
}

// table aligns the cells of each column. Cells that may be cut make way for the last column, which is wrapped if it
// still does not fit.
func (o Options) table(t desk.Table) []string {
	rows := make([][]string, 0, len(t.Rows)+1)
	if slices.ContainsFunc(t.Columns, func(c desk.Column) bool { return c.Name != "" }) {
		var head []string
		for _, c := range t.Columns {
			head = append(head, c.Name)
		}
		rows = append(rows, head)
	}
	rows = append(rows, t.Rows...)
	widths := make([]int, len(t.Columns))
	for i, row := range rows {
		rows[i] = slices.Clone(row)
		for j, cell := range row {
			rows[i][j] = strings.ReplaceAll(strings.ReplaceAll(term.Sanitize(cell), "\t", " "), "\n", " ")
			widths[j] = max(widths[j], cells.Width(rows[i][j]))
		}
	}
	before := ""
	if t.Indented {
		before = indent
	}
	o.narrow(t.Columns, widths, len(before))
	last := len(t.Columns) - 1
	var lines []string
	for _, row := range rows {
		head := before
		for j, cell := range row[:last] {
			if t.Columns[j].Cut {
				cell = cells.Cut(cell, widths[j])
			}
			head += o.align(t.Columns[j], cell, widths[j]) + "  "
		}
		end := row[last]
		if t.Columns[last].Right {
			end = cells.Right(end, widths[last])
		}
		if t.Columns[last].Cut && o.Width > 0 {
			lines = append(lines, head+cells.Cut(end, max(8, o.Width-cells.Width(head))))
			continue
		}
		lines = append(lines, o.hang(head, end)...)
	}
	return lines
}

func (o Options) align(c desk.Column, cell string, width int) string {
	if c.Right {
		return cells.Right(cell, width)
	}
	return cells.Left(cell, width)
}

// narrow reduces the widths of columns that may be cut until a row fits.
func (o Options) narrow(columns []desk.Column, widths []int, used int) {
	const least = 8 // cells of a column that is cut
	for _, w := range widths {
		used += w + 2
	}
	for j, c := range columns[:len(columns)-1] {
		if over := used - 2 - o.Width; c.Cut && o.Width > 0 && over > 0 && widths[j] > least {
			taken := min(over, widths[j]-least)
			widths[j] -= taken
			used -= taken
		}
	}
}

// Safe returns a line of text without what could harm a terminal. Tabs become blanks.
func Safe(line string) string { return oneLine(line) }

// safe makes text safe for a terminal; oneLine also puts it on one line.
func safe(text string) string { return strings.ReplaceAll(term.Sanitize(text), "\t", "    ") }

func oneLine(text string) string { return strings.ReplaceAll(safe(text), "\n", " ") }
