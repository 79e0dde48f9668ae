package draw

import (
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/tool"
)

// Page renders a page.
func Page(p commands.Page, o Options) []Row {
	var rows []Row
	for _, b := range p.Blocks {
		rows = append(rows, o.block(b)...)
	}
	return rows
}

// Choices renders a list with numbered choices.
func Choices(l commands.List, o Options) []Row {
	rows := Page(l.Page, o)
	if l.Question != "" {
		rows = append(rows, o.wrap(l.Question)...)
	}
	for i, c := range l.Choices {
		text := c.Title
		if c.About != "" {
			text += "  (" + c.About + ")"
		}
		rows = append(rows, o.hang(cells.Right(number(i+1), 3)+"  ", text)...)
	}
	return rows
}

// indent precedes indented lines.
const indent = "  "

func (o Options) block(b commands.Block) []Row {
	switch b := b.(type) {
	case commands.Text:
		return o.wrap(string(b))
	case commands.Swatch:
		return []Row{append(Line(Text, indent), Sample(string(b))...)}
	case commands.Bar:
		return o.bar(b)
	case commands.Remark:
		return Fill(Faint, string(b), o.Width)
	case commands.Notice:
		return o.hang(indent+"note: ", string(b))
	case commands.Fields:
		return o.fields(b)
	case commands.Table:
		return o.table(b)
	case commands.Terms:
		return o.terms(b)
	case commands.Columns:
		return o.columns(b)
	case commands.Items:
		var rows []Row
		for _, item := range b {
			rows = append(rows, o.hang(indent, item)...)
		}
		return rows
	case commands.Output:
		inner := o
		inner.Width = max(0, o.Width-len(indent))
		if _, ok := b.Display.(tool.Output); ok {
			inner.Width = 0 // lines stay whole, to be copied
		}
		return Indent(Rows(b.Display, inner), Line(Text, indent), Line(Text, indent))
	}
	return nil
}

// wrap breaks text into rows that fit.
func (o Options) wrap(text string) []Row {
	var rows []Row
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, Wrap(Line(Text, Clean(line)), o.Width, nil)...)
	}
	return rows
}

// hang renders text after head, with further rows indented to head's width. Leading blanks in
// text are kept.
func (o Options) hang(head, text string) []Row {
	width := o.Width
	if width > 0 {
		width = max(20, width-cells.Width(head))
	}
	return Indent(Wrap(Line(Text, Clean(text)), width, nil), Line(Text, head), Blanks(cells.Width(head)))
}

// terms renders each text next to its name, or below the name if the name is long.
func (o Options) terms(terms commands.Terms) []Row {
	const most = 20 // maximum name width in cells for text on the same line
	widest := 0
	for _, t := range terms {
		widest = max(widest, cells.Width(t.Name))
	}
	column := min(widest, most)
	if o.Width > 0 {
		column = min(column, max(4, o.Width/4))
	}
	var rows []Row
	for _, t := range terms {
		name := Clean(t.Name)
		if cells.Width(name) > column {
			rows = append(rows, o.hang(indent, name)...)
			name = ""
		}
		rows = append(rows, o.hang(indent+cells.Left(name, column)+"  ", t.Text)...)
	}
	return rows
}

// columns renders two lists of terms next to each other, or one below the other if the terms of
// a list would not fit on a line each.
func (o Options) columns(c commands.Columns) []Row {
	const apart = 3
	var width [2]int
	for i, terms := range c.Terms {
		names, texts := 0, 0
		for _, t := range terms {
			names, texts = max(names, cells.Width(t.Name)), max(texts, cells.Width(t.Text))
		}
		width[i] = len(indent) + names + 2 + texts
	}
	beside := o.Width > 0 && width[0]+apart+width[1] <= o.Width
	var lists [2][]Row
	for i, terms := range c.Terms {
		inner := o
		if beside {
			inner.Width = 0
		}
		lists[i] = append([]Row{Line(Strong, Clean(c.Titles[i]))}, inner.terms(terms)...)
	}
	if !beside {
		return append(append(lists[0], nil), lists[1]...)
	}
	rows := make([]Row, max(len(lists[0]), len(lists[1])))
	for i := range rows {
		if i < len(lists[0]) {
			rows[i] = lists[0][i]
		}
		if i < len(lists[1]) {
			rows[i] = append(append(rows[i], Span{Text: Blank(width[0] + apart - rows[i].Width())}), lists[1][i]...)
		}
	}
	return rows
}

func (o Options) fields(fields commands.Fields) []Row {
	widest := 0
	for _, f := range fields {
		widest = max(widest, cells.Width(f.Name))
	}
	var rows []Row
	for _, f := range fields {
		if o.Width > 0 && longestWord(f.Value) > o.Width-widest-3 { // a long word, such as a path, breaks less often below its name
			rows = append(rows, Line(Text, Clean(f.Name)+":"))
			rows = append(rows, o.hang(indent, f.Value)...)
			continue
		}
		rows = append(rows, o.hang(cells.Left(f.Name+":", widest+3), f.Value)...)
	}
	return rows
}

// longestWord returns the width of the longest word in text.
func longestWord(text string) int {
	longest := 0
	for word := range strings.FieldsSeq(text) {
		longest = max(longest, cells.Width(Clean(word)))
	}
	return longest
}

// table aligns the cells of each column. Columns that may be cut give way first, then the last
// column is wrapped, and then all are. If the columns cannot fit, each row's cells are stacked.
func (o Options) table(t commands.Table) []Row {
	lines := tableLines(t)
	widths := make([]int, len(t.Columns))
	for _, line := range lines {
		for j, cell := range line {
			widths[j] = max(widths[j], cells.Width(cell))
		}
	}
	before := ""
	if t.Indented {
		before = indent
	}
	o.narrow(t.Columns, widths, len(before))
	shrunk := false
	if last := len(widths) - 1; o.fits(t.Columns, widths, len(before)) {
		if used := len(before) + total(widths[:last]) + 2*last; o.Width > 0 {
			widths[last] = min(widths[last], max(8, o.Width-used))
		}
	} else if shrunk = ShrinkColumns(widths, longestWords(lines, widths), o.Width-len(before)-2*last, o.Width); !shrunk {
		return o.records(t, before)
	}
	var rows []Row
	for _, line := range lines {
		rows = append(rows, Indent(o.tableRow(t.Columns, widths, line, shrunk), Line(Text, before), Line(Text, before))...)
	}
	return rows
}

// tableRow renders a row of cells. Cells that are too wide are wrapped, or cut if they may be
// and whole is false.
func (o Options) tableRow(columns []commands.Column, widths []int, line []string, whole bool) []Row {
	parts, most := make([][]string, len(line)), 1
	last := len(line) - 1
	for j, cell := range line {
		parts[j] = []string{cell}
		switch {
		case cells.Width(cell) <= widths[j]:
		case columns[j].Cut && !whole:
			parts[j][0] = cells.Cut(cell, widths[j], o.marks().More)
		default:
			parts[j] = nil
			for _, row := range Wrap(Line(Text, cell), widths[j], nil) {
				if j == last { // a long word stays whole, so that it can be copied
					parts[j] = append(parts[j], row.String())
					continue
				}
				for _, part := range Chop(row, widths[j]) {
					parts[j] = append(parts[j], part.String())
				}
			}
			most = max(most, len(parts[j]))
		}
	}
	rows := make([]Row, most)
	for n := range rows {
		var b strings.Builder
		for j := range parts {
			text := ""
			if n < len(parts[j]) {
				text = parts[j][n]
			}
			switch {
			case columns[j].Right:
				text = cells.Right(text, widths[j])
			case j < last:
				text = cells.Left(text, widths[j])
			}
			if j < last {
				text += "  "
			}
			b.WriteString(text)
		}
		rows[n] = Line(Text, strings.TrimRight(b.String(), " "))
	}
	return rows
}

func total(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// longestWords returns the width of the longest word of each column.
func longestWords(lines [][]string, widths []int) []int {
	words := make([]int, len(widths))
	for _, line := range lines {
		for j, cell := range line {
			words[j] = max(words[j], longestWord(cell))
		}
	}
	return words
}

const (
	// leastColumn is the minimum width of a column of a table, if its cells are wider, and
	// leastRecord that in a window of less than narrowWindow columns, where stacked cells are
	// easier to read.
	leastColumn, leastRecord, narrowWindow = 5, 12, 40
	// mostWord is the maximum width to which a column keeps its longest word.
	mostWord = 24
)

// ShrinkColumns narrows the widest columns of a table until their sum is at most most, in a
// window of the given width. Columns keep their longest words if possible. It reports whether
// all columns stay readable; if not, widths are undefined.
func ShrinkColumns(widths, words []int, most, window int) bool {
	least := make([]int, len(widths))
	for i, w := range widths {
		if least[i] = min(w, max(leastColumn, min(words[i], mostWord))); window < narrowWindow {
			least[i] = min(w, leastRecord)
		}
	}
	if total(least) > most && window >= narrowWindow {
		for i, w := range widths {
			least[i] = min(w, leastColumn)
		}
	}
	if total(least) > most {
		return false
	}
	for i := range widths {
		widths[i] = max(least[i], min(widths[i], most))
	}
	for over := total(widths) - most; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		widths[widest]--
	}
	return true
}

// tableLines returns a table's cells as they are measured, preceded by the column names if
// there are any.
func tableLines(t commands.Table) [][]string {
	var lines [][]string
	if slices.ContainsFunc(t.Columns, func(c commands.Column) bool { return c.Name != "" }) {
		var head []string
		for _, c := range t.Columns {
			head = append(head, c.Name)
		}
		lines = append(lines, head)
	}
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for j, cell := range row {
			line[j] = Clean(strings.ReplaceAll(cell, "\t", " "))
		}
		lines = append(lines, line)
	}
	return lines
}

// narrow reduces the widths of columns that may be cut until a row fits.
func (o Options) narrow(columns []commands.Column, widths []int, used int) {
	const least = 8 // minimum width of a cut column
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

// fits reports whether a row has room for its columns.
func (o Options) fits(columns []commands.Column, widths []int, used int) bool {
	const least = 12 // minimum width of a wrapped or cut last column
	last := len(columns) - 1
	for _, w := range widths[:last] {
		used += w + 2
	}
	if end := widths[last]; columns[last].Right {
		used += end
	} else {
		used += min(end, least)
	}
	return o.Width <= 0 || used <= o.Width
}

// records renders each row as its first cell followed by the other cells, labeled with their
// column names.
func (o Options) records(t commands.Table, before string) []Row {
	inner := o
	inner.Width = max(1, o.Width-len(before+indent))
	var rows []Row
	for _, line := range tableLines(commands.Table{Columns: make([]commands.Column, len(t.Columns)), Rows: t.Rows}) {
		rows = append(rows, o.hang(before, line[0])...)
		var below []Row
		for j, cell := range line[1:] {
			switch name := t.Columns[j+1].Name; {
			case strings.TrimSpace(cell) == "":
			case name == "":
				below = append(below, inner.wrap(cell)...)
			default:
				below = append(below, inner.hang(name+": ", cell)...)
			}
		}
		rows = append(rows, Indent(below, Line(Text, before+indent), Line(Text, before+indent))...)
	}
	return rows
}
