package dialog

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// A menu is a list of choices with one marked choice.
type menu struct {
	items []item
	at    int  // index of the marked choice
	ticks bool // several can be chosen

	field *edit.Field // input for the marked choice; nil if it takes no text
}

// An item is a choice.
type item struct {
	text     string
	remark   string // explanation; may be empty
	letter   string // shortcut key in addition to the number; may be empty
	off      bool   // cannot be chosen
	harmless bool   // lets nothing happen
	apart    bool   // cannot be ticked
	ticked   bool
	cut      bool // was not drawn in full
	told     bool // has been written in full to the scrollback
}

// numbered returns the choice that a key names by its number or letter, or -1.
func (m *menu) numbered(ev keys.Event) int {
	for i, it := range m.items {
		if it.letter != "" && strings.EqualFold(ev.Text, it.letter) {
			return i
		}
	}
	n, err := strconv.Atoi(ev.Text)
	if err != nil || utf8.RuneCountInString(ev.Text) != 1 || n < 1 || n > len(m.items) || m.items[n-1].off {
		return -1
	}
	return n - 1
}

// key moves the mark, or ticks the marked choice.
func (m *menu) key(a keys.Action) {
	step := 1
	switch a {
	case keys.Tick:
		if it := &m.items[m.at]; !it.apart {
			it.ticked = !it.ticked
		}
		return
	case keys.ChoiceBefore:
		step = -1
	}
	for i := m.at + step; i >= 0 && i < len(m.items); i += step {
		if !m.items[i].off {
			m.at = i
			return
		}
	}
}

// leaves moves from an empty field to the choice above or below.
func (m *menu) leaves(step keys.Action) bool {
	if step != keys.ChoiceBefore && step != keys.ChoiceAfter || m.field.Text() != "" {
		return false
	}
	m.field = nil
	m.key(step)
	return true
}

// A look determines how a menu is drawn.
type look struct {
	glyphs draw.Glyphs
	unseen bool // some rows to approve have not been shown
}

// rows draws the choices around the marked one in at most h rows, and returns the caret
// position.
func (m *menu) rows(l look, w, h int) ([]draw.Row, *screen.Point) {
	each := m.fit(l, w, h)
	from := 0
	if len(each) > h {
		from = min(max(0, m.at-h/2), len(each)-h)
	}
	var rows []draw.Row
	caret := &screen.Point{}
	for i := from; i < len(each) && len(rows) < h; i++ {
		if i == m.at {
			caret.Row = len(rows)
		}
		if i == m.at && m.field != nil {
			typed, at := m.fieldRows(l.glyphs, w, max(1, h-len(rows)-(len(each)-i-1)))
			caret = &screen.Point{Row: len(rows) + at.Row, Col: at.Col}
			rows = append(rows, typed...)
			continue
		}
		rows = append(rows, each[i]...)
	}
	return rows[:min(len(rows), h)], caret
}

// fit draws each choice. If they take too many rows, each gets one, and the marked one more if
// there is room.
func (m *menu) fit(l look, w, h int) [][]draw.Row {
	each := make([][]draw.Row, len(m.items))
	total, column := 0, m.column(w)
	for i := range m.items {
		m.items[i].cut = false
		each[i] = m.item(i, l, w, column)
		total += len(each[i])
	}
	shorten := func(i int) {
		if n := len(each[i]); total > h && n > 1 {
			total -= n - 1
			m.items[i].cut = true
			each[i] = []draw.Row{append(each[i][0].Cut(max(0, w-2), l.glyphs.More), draw.Span{Role: draw.Faint, Text: " " + l.glyphs.More})}
		}
	}
	for i := range each {
		if i != m.at {
			shorten(i)
		}
	}
	shorten(m.at)
	if m.marks(m.at, l) {
		for i, row := range each[m.at] {
			each[m.at][i] = row.On(draw.SelectedGround, true)
		}
	}
	return each
}

// fieldRows draws the input field.
func (m *menu) fieldRows(g draw.Glyphs, w, h int) ([]draw.Row, *screen.Point) {
	lines, row, col := m.field.Rows(w+1, h)
	rows := make([]draw.Row, len(lines))
	for i, line := range lines {
		rows[i] = draw.Line(draw.Text, line)
		if i == 0 && strings.HasPrefix(line, " ") {
			rows[i] = draw.Row{{Role: draw.Accent, Text: g.Mark}, {Role: draw.Text, Text: line[1:]}}
		}
		rows[i] = rows[i].On(draw.SelectedGround, true)
	}
	return rows, &screen.Point{Row: row, Col: col}
}

// item draws a choice. Column is where the remarks begin, or 0 if they follow the texts.
func (m *menu) item(i int, l look, w, column int) []draw.Row {
	it := m.items[i]
	mark, role := draw.Span{Text: " "}, draw.Text
	switch {
	case m.marks(i, l):
		mark, role = draw.Span{Role: draw.Accent, Text: l.glyphs.Mark}, draw.Strong
	case it.off, l.unseen && (!it.harmless || i == m.at):
		role = draw.Faint
	}
	row := draw.Row{mark, {Role: role, Text: m.label(i)}}
	if it.remark != "" {
		row = append(row, draw.Span{Role: draw.Faint, Text: draw.Blank(max(2, column-row.Width())) + draw.CleanQuestion(it.remark)})
	}
	var rows []draw.Row
	for _, row := range draw.Wrap(row, w, draw.Blanks(3)) {
		rows = append(rows, row.Cut(w, l.glyphs.More))
	}
	return rows
}

// marks reports whether a choice is drawn as the marked one.
func (m *menu) marks(i int, l look) bool { return i == m.at && !l.unseen && !m.items[i].off }

// label returns a choice's number and text.
func (m *menu) label(i int) string {
	it := m.items[i]
	number := strconv.Itoa(i+1) + " "
	if i >= 9 {
		number = ""
	}
	if m.ticks && !it.apart {
		box := "[ ] "
		if it.ticked {
			box = "[x] "
		}
		number += box
	}
	return number + draw.CleanQuestion(it.text)
}

// column returns the column where all remarks can begin in rows of w cells, or 0.
func (m *menu) column(w int) int {
	column, longest := 0, 0
	for i, it := range m.items {
		if it.remark != "" {
			column = max(column, 1+cells.Width(m.label(i))+3)
			longest = max(longest, cells.Width(draw.CleanQuestion(it.remark)))
		}
	}
	if column+longest > w {
		return 0
	}
	return column
}

// ticked returns the ticked choices, otherwise the marked one.
func (m *menu) ticked() []int {
	var list []int
	for i, it := range m.items {
		if it.ticked {
			list = append(list, i)
		}
	}
	if list == nil && !m.items[m.at].apart {
		list = []int{m.at}
	}
	return list
}
