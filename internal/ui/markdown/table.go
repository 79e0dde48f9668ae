package markdown

import (
	"slices"
	"strings"

	termcells "adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// A table is an open table.
type table struct {
	head    []string
	right   []bool   // right-aligned columns
	rows    []string // rows not yet rendered, as source text
	widths  []int    // column widths; fixed once rows were rendered
	begun   bool     // a row below the head has been rendered
	wrapped bool     // the last row took several lines
	record  bool     // the columns do not fit: rows are drawn as names and values
	drawn   bool     // the head has been rendered
}

func (t *table) open() bool { return t.head != nil }

const (
	// maxTable is the number of table rows held back for alignment.
	maxTable = 50
	// usualRows is the number of rows that most tables do not exceed.
	usualRows = 8
	// gap is the distance between columns.
	gap = 2
)

// begins handles the second line of a table; the head is the last line of the paragraph.
func (s *Stream) begins(text string) bool {
	if !delimits(text) {
		return false
	}
	last := strings.LastIndexByte(s.para.text, '\n') + 1
	head, marks := tableCells(s.para.text[last:]), tableCells(text)
	if len(head) != len(marks) || strings.IndexByte(s.para.text[last:]+text, '|') < 0 {
		return false
	}
	s.para.text = strings.TrimRight(s.para.text[:last], "\n")
	s.closeLeaf()
	s.table = table{head: head, rows: make([]string, 0, usualRows), right: make([]bool, 0, len(marks))}
	for _, m := range marks {
		s.table.right = append(s.table.right, strings.HasSuffix(m, ":") && !strings.HasPrefix(m, ":"))
	}
	return true
}

// delimits reports whether a line separates the head of a table from its rows.
func delimits(line string) bool {
	if strings.Trim(line, "|-: \t") != "" {
		return false
	}
	for _, c := range tableCells(line) {
		if c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"); c == "" || strings.Trim(c, "-") != "" {
			return false
		}
	}
	return true
}

func (s *Stream) tableLine(text string) {
	s.table.rows = append(s.table.rows, text)
	if len(s.table.rows) >= maxTable {
		s.drawTable()
	}
}

// fields returns the cells of a row, one for each column, valid until the next call.
func (t *table) fields(m *space, row string) []string {
	n := len(t.head)
	m.texts = appendCells(m.texts[:0], row)
	if len(m.texts) > n { // keep surplus cells
		m.texts = append(m.texts[:n-1], strings.Join(m.texts[n-1:], " | "))
	}
	for len(m.texts) < n {
		m.texts = append(m.texts, "")
	}
	return m.texts
}

// drawTable renders the rows so far: aligned, or as names and values if they do not fit.
func (s *Stream) drawTable() {
	t, l := &s.table, s.look()
	l.stock = &l.space.scratch
	l.stock.Reuse()
	cells := l.space.cells[:0] // reused for each row
	if !t.drawn {
		cells = l.cells(cells, t.head, draw.Strong)
	}
	for _, r := range t.rows {
		cells = l.cells(cells, t.fields(l.space, r), draw.Text)
	}
	l.space.cells = cells
	columns := len(t.head)
	if t.widths == nil {
		t.widths = make([]int, columns)
		for i, c := range cells {
			t.widths[i%columns] = max(t.widths[i%columns], c.Width())
		}
		if s.Width > 0 {
			room := s.within(max(s.Width, s.Tables))
			if most := room - gap*(columns-1); sum(t.widths) > most {
				t.record = !draw.ShrinkColumns(t.widths, longestWords(cells, columns), most, room)
			}
		}
	}
	if t.record {
		s.records(cells)
	} else {
		for row := range slices.Chunk(cells, columns) {
			s.tableRow(row)
		}
	}
	t.drawn, t.rows = true, nil
}

func sum(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// longestWords returns the width of the longest word of each column.
func longestWords(cells []draw.Row, columns int) []int {
	words := make([]int, columns)
	for i, c := range cells {
		for word := range strings.FieldsSeq(c.String()) {
			words[i%columns] = max(words[i%columns], termcells.Width(word))
		}
	}
	return words
}

// tableRow renders a row of cells, wrapped in their columns. A rule follows the head, and
// separates rows from wrapped ones.
func (s *Stream) tableRow(row []draw.Row) {
	t := &s.table
	head := !t.drawn
	lines := make([][]draw.Row, len(row)) // by column
	most := 1
	for i, c := range row {
		lines[i] = []draw.Row{c}
		if c.Width() > t.widths[i] {
			lines[i] = nil
			for _, line := range draw.Wrap(c, t.widths[i], nil) {
				lines[i] = append(lines[i], draw.Chop(line, t.widths[i])...)
			}
		}
		most = max(most, len(lines[i]))
	}
	if !head && (most > 1 || t.wrapped) && t.begun {
		s.tableRule()
	}
	for n := range most {
		cells := make([]draw.Row, len(row))
		for i := range row {
			if n < len(lines[i]) {
				cells[i] = lines[i][n]
			}
		}
		s.emit(t.align(&s.memory().stock, cells))
	}
	if t.wrapped, t.begun = most > 1, !head; head {
		s.tableRule()
	}
	t.drawn = true
}

// tableRule emits a rule below the columns.
func (s *Stream) tableRule() {
	if s.Glyphs.Rule == "" || s.Marks {
		return
	}
	var row draw.Row
	for i, w := range s.table.widths {
		if i > 0 {
			row = append(row, draw.Span{Text: draw.Blank(gap)})
		}
		row = append(row, draw.Span{Role: draw.Faint, Text: strings.Repeat(s.Glyphs.Rule, w)})
	}
	s.emit(row)
}

// cells appends texts rendered as cells.
func (l look) cells(out []draw.Row, texts []string, role draw.Role) []draw.Row {
	for _, text := range texts {
		pieces, _ := l.inline(clean(text), ' ')
		out = append(out, l.row(pieces, role))
	}
	return out
}

// align renders a row of cells aligned with the columns, two blanks apart.
func (t *table) align(s *draw.RowArena, cells []draw.Row) draw.Row {
	spans := 0
	for _, c := range cells {
		spans += 1 + len(c)
	}
	row, before := s.Row(spans), 0 // blanks before the next cell
	for j, c := range cells {
		free := max(0, t.widths[j]-c.Width())
		if t.right[j] {
			before, free = before+free, 0
		}
		if len(c) > 0 {
			if before > 0 {
				row = append(row, draw.Span{Text: draw.Blank(before)})
			}
			row = append(row, c...)
			before = 0
		}
		before += free + gap
	}
	return row
}

// records renders rows as lines of names and values.
func (s *Stream) records(cells []draw.Row) {
	t := &s.table
	columns := len(t.head)
	look := look{s.Marks, s.Links, s.memory(), nil}
	names := look.cells(nil, t.head, draw.Strong)
	if !t.drawn {
		cells = cells[columns:] // drop the head
	}
	for i, cell := range cells {
		name := names[i%columns]
		if i%columns == 0 && (i > 0 || t.drawn) {
			s.separate()
		}
		row := slices.Clone(cell)
		if len(name) > 0 {
			row = append(append(slices.Clone(name), draw.Span{Text: ": "}), cell...)
		}
		s.emit(draw.Wrap(row, s.room(), draw.Blanks(2))...)
	}
	if len(cells) == 0 && !t.drawn {
		for _, n := range names {
			s.emit(n)
		}
	}
}

// tableCells returns the cells of a table line. A bar after a backslash or in code is part of a
// cell.
func tableCells(line string) []string { return appendCells(nil, line) }

// appendCells appends the cells of a table line to row, which must be empty.
func appendCells(row []string, line string) []string {
	line = strings.TrimPrefix(trim(line), "|")
	if strings.IndexByte(line, '\\') < 0 && strings.IndexByte(line, '`') < 0 {
		for {
			cell, rest, more := strings.Cut(line, "|")
			if row = append(row, trim(cell)); !more {
				break
			}
			line = rest
		}
		if n := len(row); n > 1 && row[n-1] == "" {
			row = row[:n-1]
		}
		return row
	}
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case c == '`':
			n := codeLen(line[i:])
			cell.WriteString(line[i : i+n])
			i += n - 1
		case c == '|':
			row = append(row, trim(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(c)
		}
	}
	if last := trim(cell.String()); last != "" || len(row) == 0 {
		row = append(row, last)
	}
	return row
}

// codeLen returns the length of the backquoted code that text begins with, or of the backquotes
// alone if they are not closed.
func codeLen(text string) int {
	n := run(text)
	if end := strings.Index(text[n:], text[:n]); end >= 0 {
		return n + end + n
	}
	return n
}
