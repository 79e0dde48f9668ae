package dialog

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// A menu is a list of choices, one of which is marked.
type menu struct {
	items []item
	at    int  // which is marked
	ticks bool // several can be chosen

	field *edit.Field // for the text that belongs to the choice that is marked; nil if none is typed
}

// An item is a choice.
type item struct {
	text     string
	remark   string // what it means; may be empty
	letter   string // a key that takes it, beside its number; may be empty
	off      bool   // it cannot be chosen
	harmless bool   // it lets nothing happen
	apart    bool   // it is none of those that can be ticked
	ticked   bool
	cut      bool // not all of it was drawn
	told     bool // all of it was written for good
}

// numbered returns the choice that a key names by its number or its letter, or -1.
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

// key moves the mark, or ticks the choice that is marked.
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

// leaves moves from a field in which nothing is typed to the choice above or below.
func (m *menu) leaves(step keys.Action) bool {
	if step != keys.ChoiceBefore && step != keys.ChoiceAfter || m.field.Text() != "" {
		return false
	}
	m.field = nil
	m.key(step)
	return true
}

// A look is how a menu is drawn.
type look struct {
	glyphs draw.Glyphs
	unseen bool // not all of what is to be approved has been shown
}

// rows draws the choices around the one that is marked in at most h rows, and returns where the caret is.
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
			typed, at := m.fieldRows(w, max(1, h-len(rows)-(len(each)-i-1)))
			caret = &screen.Point{Row: len(rows) + at.Row, Col: at.Col}
			rows = append(rows, typed...)
			continue
		}
		rows = append(rows, each[i]...)
	}
	return rows[:min(len(rows), h)], caret
}

// fit draws each choice. If all are too many rows, each gets one, and the one that is marked more if that is enough.
func (m *menu) fit(l look, w, h int) [][]draw.Row {
	each := make([][]draw.Row, len(m.items))
	total := 0
	for i := range m.items {
		m.items[i].cut = false
		each[i] = m.item(i, l, w)
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
	return each
}

// fieldRows draws what is typed.
func (m *menu) fieldRows(w, h int) ([]draw.Row, *screen.Point) {
	lines, row, col := m.field.Rows(w+1, h)
	rows := make([]draw.Row, len(lines))
	for i, line := range lines {
		rows[i] = draw.Line(draw.Text, line)
	}
	return rows, &screen.Point{Row: row, Col: col}
}

// item draws a choice.
func (m *menu) item(i int, l look, w int) []draw.Row {
	it := m.items[i]
	mark, role := draw.Span{Text: "  "}, draw.Text
	switch {
	case it.off || l.unseen && !it.harmless:
		role = draw.Faint
	case i == m.at:
		mark, role = draw.Span{Role: draw.Accent, Text: l.glyphs.Prompt + " "}, draw.Strong
	}
	if i == m.at && l.unseen {
		mark, role = draw.Span{Text: "  "}, draw.Faint
	}
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
	row := draw.Row{mark, {Role: role, Text: number + draw.Asked(it.text)}}
	if it.remark != "" {
		row = append(row, draw.Span{Role: draw.Faint, Text: "  " + draw.Asked(it.remark)})
	}
	var rows []draw.Row
	for _, row := range draw.Wrap(row, w, draw.Blanks(4)) {
		rows = append(rows, row.Cut(w, l.glyphs.More))
	}
	return rows
}

// ticked returns the choices that are ticked, or the one that is marked if none is.
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
