package markdown

import (
	"strings"

	"adze/internal/ui/draw"
)

// A table is one that is open.
type table struct {
	head   []string
	right  []bool // the columns whose cells end at the right
	rows   [][]string
	widths []int // of the columns, once rows were drawn; they stay
	drawn  bool  // the head was
}

func (t *table) open() bool { return t.head != nil }

// maxTable is how many rows of a table are held back to align them.
const maxTable = 50

// begins takes the second line of a table, after its head, which is the last line of the paragraph.
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
	s.table = table{head: head}
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
	row := tableCells(text)
	if n := len(s.table.head); len(row) > n { // nothing is lost
		row = append(row[:n-1], strings.Join(row[n-1:], " | "))
	}
	row = append(row, make([]string, len(s.table.head)-len(row))...)
	s.table.rows = append(s.table.rows, row)
	if len(s.table.rows) >= maxTable {
		s.drawTable()
	}
}

func (s *Stream) endTable() {
	s.drawTable()
	s.table = table{}
}

// drawTable draws the rows so far: aligned, or as names and values if they do not fit.
func (s *Stream) drawTable() {
	t := &s.table
	rows := make([][]draw.Row, 0, len(t.rows)+1)
	if !t.drawn {
		rows = append(rows, s.look().cells(t.head, draw.Strong))
	}
	for _, r := range t.rows {
		rows = append(rows, s.look().cells(r, draw.Text))
	}
	if t.widths == nil {
		t.widths = make([]int, len(t.head))
		for _, r := range rows {
			for j, c := range r {
				t.widths[j] = max(t.widths[j], c.Width())
			}
		}
	}
	total := 2 * (len(t.widths) - 1)
	for _, w := range t.widths {
		total += w
	}
	if s.Width > 0 && total > s.room() {
		s.records()
	} else {
		for _, r := range rows {
			s.emit([]draw.Row{t.align(r)})
		}
	}
	t.drawn, t.rows = true, nil
}

func (l look) cells(texts []string, role draw.Role) []draw.Row {
	row := make([]draw.Row, len(texts))
	for i, text := range texts {
		pieces, _ := l.inline(clean(text), ' ')
		row[i] = rowOf(pieces).In(role)
	}
	return row
}

// align puts cells below those of other rows, two blanks apart.
func (t *table) align(cells []draw.Row) draw.Row {
	var row draw.Row
	gap := 0
	for j, c := range cells {
		free := max(0, t.widths[j]-c.Width())
		if t.right[j] {
			gap, free = gap+free, 0
		}
		if len(c) > 0 {
			if gap > 0 {
				row = append(row, draw.Blanks(gap)...)
			}
			row = append(row, c...)
			gap = 0
		} else {
			free = t.widths[j]
			if t.right[j] {
				free = 0
			}
		}
		gap += free + 2
	}
	return row
}

// records draws rows as lines of names and values.
func (s *Stream) records() {
	t := &s.table
	names := s.look().cells(t.head, draw.Strong)
	for i, r := range t.rows {
		if i > 0 || t.drawn {
			s.separate()
		}
		for j, cell := range s.look().cells(r, draw.Text) {
			row := cell
			if len(names[j]) > 0 {
				row = append(append(append(draw.Row{}, names[j]...), draw.Span{Text: ": "}), cell...)
			}
			s.emit(draw.Wrap(row, s.room(), draw.Blanks(2)))
		}
	}
	if len(t.rows) == 0 && !t.drawn {
		for _, n := range names {
			s.emit([]draw.Row{n})
		}
	}
}

// tableCells returns the cells of a line of a table. A bar after a backslash, or in code, is part of a cell.
func tableCells(line string) []string {
	line = strings.TrimPrefix(strings.Trim(line, " \t"), "|")
	var row []string
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
			row = append(row, strings.Trim(cell.String(), " \t"))
			cell.Reset()
		default:
			cell.WriteByte(c)
		}
	}
	if last := strings.Trim(cell.String(), " \t"); last != "" || len(row) == 0 {
		row = append(row, last)
	}
	return row
}

// codeLen returns the length of the code between backquotes that text begins with, or of the backquotes if it has no end.
func codeLen(text string) int {
	n := run(text)
	if end := strings.Index(text[n:], text[:n]); end >= 0 {
		return n + end + n
	}
	return n
}
