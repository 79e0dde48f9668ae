package picker

import (
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// Rows draws the list in at most h rows: the filter, the choices, a preview of the current one,
// and key hints.
func (p *Picker) Rows(w, h int) ([]draw.Row, *screen.Point) {
	w, h = max(2, w), max(2, h)
	head, col := p.headRow(w)
	rows := []draw.Row{head}
	if p.size.w != w || p.size.h != h {
		p.size.w, p.size.h, p.tall = w, h, 0
	}
	above := p.pageRows(w, max(1, h/3))
	below := p.belowRows(w, h)
	if room := h - len(rows) - len(below) - max(1, len(p.found)); p.above.cut() && room > h/3 {
		above = p.pageRows(w, room)
	}
	p.page = max(1, h-len(rows)-len(above)-len(below))
	below[len(below)-1] = p.hintRow(w) // depends on both
	rows = append(rows, above...)
	rows = append(rows, p.choiceRows(w)...)
	if p.tall = max(p.tall, min(h, len(rows)+len(below))); p.list.Full {
		p.tall = h
	}
	for len(rows)+len(below) < p.tall {
		rows = append(rows, nil)
	}
	rows = append(rows, below...)
	caret := &screen.Point{Row: 0, Col: col}
	if p.asking != nil {
		row, col := p.asking.question(w, p.glyphs.More)
		rows[min(len(rows), h)-1] = row
		if caret = nil; col >= 0 {
			caret = &screen.Point{Row: min(len(rows), h) - 1, Col: col}
		}
	}
	return rows[:min(len(rows), h)], caret
}

// headRow returns the first row: the title, the filter, and the views. Col is the cursor column.
func (p *Picker) headRow(w int) (row draw.Row, col int) {
	title := draw.Line(draw.Strong, draw.Clean(p.list.Title)).Cut(w/2, p.glyphs.More)
	if p.list.Title == "" {
		title = draw.Line(draw.Strong, "Choose")
	}
	title = append(title, draw.Span{Text: "  "})
	used := title.Width()
	names := p.viewNames()
	room := w - used - names.Width() - 2
	if room < 10 {
		names, room = nil, w-used
	}
	field, at, col := p.field.Rows(max(2, room), 1)
	text := draw.Line(draw.Accent, field[at]).Cut(room, p.glyphs.More)
	row = append(title, text...)
	if len(names) > 0 {
		row = append(row, draw.Blanks(w-row.Width()-names.Width())...)
		row = append(row, names...)
	}
	return row.Cut(w, p.glyphs.More), min(used+col, w-1)
}

// viewNames returns the names of the views, with the current one in strong.
func (p *Picker) viewNames() draw.Row {
	if len(p.views) < 2 {
		return nil
	}
	var row draw.Row
	for i, v := range p.views {
		role := draw.Faint
		if i == p.view {
			role = draw.Strong
		}
		if i > 0 {
			row = append(row, draw.Span{Role: draw.Faint, Text: " " + p.glyphs.Dot + " "})
		}
		row = append(row, draw.Span{Role: role, Text: draw.Clean(v.Name)})
	}
	return row
}

// pageRows returns at most n rows of the page before the choices. Lists with views have none.
func (p *Picker) pageRows(w, n int) []draw.Row {
	if len(p.list.Views) > 0 {
		return nil
	}
	o := p.options
	o.Width = w
	rows := whole(draw.Page(p.list.Page, o), w)
	p.above.all, p.above.shown = len(rows), n
	p.above.top = max(0, min(p.above.top, len(rows)-n))
	return shorten(rows[p.above.top:], n, p.glyphs)
}

// whole wraps rows so that nothing is cut off: text the user decides about must not end behind
// the edge of the screen.
func whole(rows []draw.Row, w int) (all []draw.Row) {
	for _, row := range rows {
		for _, part := range draw.Wrap(row, w, nil) {
			all = append(all, draw.Chop(part, w)...)
		}
	}
	return all
}

// A scroll is the visible range of a page's rows.
type scroll struct{ top, shown, all int }

// cut reports whether some rows are hidden.
func (s scroll) cut() bool { return s.all > s.shown }

// turns reports whether paging applies to the page before the choices: it has more rows, and
// all choices are visible.
func (p *Picker) turns() bool { return p.above.cut() && len(p.found) <= p.page }

// turn shows the next or previous part of the page before the choices, or of the choices.
func (p *Picker) turn(by int) {
	if p.turns() {
		p.above.top += by * max(1, p.above.shown-1)
		return
	}
	p.move(by * p.page)
}

// fits reports whether there is room for rows below the choices.
func (p *Picker) fits(rows []draw.Row) bool {
	return p.size.h == 0 || len(whole(rows, p.size.w)) < max(1, p.size.h/2)
}

// shorten returns at most n rows, noting how many are omitted.
func shorten(rows []draw.Row, n int, g draw.Glyphs) []draw.Row {
	if len(rows) <= n {
		return rows
	}
	return append(rows[:n-1:n-1], draw.Line(draw.Faint, fmt.Sprintf("%s %d more rows", g.More, len(rows)-n+1)))
}

// choiceRows returns the rows of the visible choices.
func (p *Picker) choiceRows(w int) []draw.Row {
	v := p.views[p.view]
	if len(p.found) == 0 {
		return []draw.Row{draw.Line(draw.Faint, "  "+p.emptyText(v)).Cut(w, p.glyphs.More)}
	}
	p.top = max(p.at-p.page+1, min(p.top, p.at), 0)
	p.top = min(p.top, max(0, len(p.found)-p.page))
	l := v.layout(w - 2)
	l.more = p.glyphs.More
	var rows []draw.Row
	for i := p.top; i < min(p.top+p.page, len(p.found)); i++ {
		mark := draw.Row{{Text: "  "}}
		if i == p.at {
			mark = draw.Row{{Role: draw.Accent, Text: cells.Left(p.glyphs.Mark, 2)}}
		}
		row := append(mark, l.row(&v.choices[p.found[i]], i == p.at)...).Cut(w, p.glyphs.More)
		if i == p.at {
			row = row.On(draw.SelectedGround, true)
		}
		rows = append(rows, row)
	}
	return rows
}

// emptyText explains why the list is empty.
func (p *Picker) emptyText(v *view) string {
	switch {
	case v.failed != "":
		return draw.Clean(v.failed)
	case v.choices == nil && v.loading:
		return "Loading"
	case len(v.choices) == 0 && v.Empty != "":
		return draw.Clean(v.Empty)
	case len(v.choices) == 0:
		return "Nothing here."
	}
	return "No match."
}

// A layout holds the column widths of choices.
type layout struct {
	width, title int
	columns      []int // only the columns that fit
	more         string
}

// layout fits titles and columns into a width: titles keep a third of it, and trailing columns
// are dropped first.
func (v *view) layout(w int) layout {
	l := layout{width: w, columns: v.widths}
	least := min(v.titles, max(12, w/3))
	for len(l.columns) > 0 && least+total(l.columns) > w {
		l.columns = l.columns[:len(l.columns)-1]
	}
	l.title = max(0, min(v.titles, w-total(l.columns)))
	return l
}

// total returns the width of columns including the blanks before them.
func total(columns []int) int {
	n := 0
	for _, c := range columns {
		n += c + 2
	}
	return n
}

// row returns a choice.
func (l layout) row(c *commands.Choice, chosen bool) draw.Row {
	role := draw.Text
	if chosen {
		role = draw.Strong
	}
	title := l.title
	if len(l.columns) == 0 && c.About != "" {
		title = min(title, max(12, l.width/2))
	}
	row := draw.Row{{Role: role, Text: cells.Cut(c.Title, title, l.more)}}
	behind := func(text string) {
		row = append(row, draw.Blanks(title+2-row.Width())...)
		row = append(row, draw.Span{Role: draw.Faint, Text: text})
	}
	for j, width := range l.columns[:min(len(l.columns), len(c.Cells))] {
		text := c.Cells[j]
		if j == 0 && len(c.Values) > 0 {
			text = value(c, chosen)
		}
		behind(text)
		title += 2 + width
	}
	if len(c.Cells) == 0 && c.About != "" {
		behind(c.About)
	}
	return row
}

// value returns the value of a choice, with a mark if it can be changed.
func value(c *commands.Choice, chosen bool) string {
	text := ""
	if len(c.Cells) > 0 {
		text = c.Cells[0]
	}
	if c.Value >= 0 && c.Value < len(c.Values) {
		text = draw.Clean(c.Values[c.Value])
	}
	if chosen {
		return "< " + text + " >"
	}
	return text
}

// belowRows returns the rows after the choices: the preview, messages, and key hints.
func (p *Picker) belowRows(w, h int) []draw.Row {
	rows := p.previewRows(w, h)
	rows = append(rows, whole(p.said, w)...)
	if p.busy {
		rows = append(rows, draw.Line(draw.Faint, p.glyphs.Active+" Working").Cut(w, p.glyphs.More))
	}
	rows = append(rows, p.hintRow(w))
	if over := len(rows) - max(1, h/2); over > 0 { // the choices have priority, and the hint stays
		rows = rows[over:]
	}
	return rows
}

// previewRows returns the preview of the current choice.
func (p *Picker) previewRows(w, h int) []draw.Row {
	c := p.choice()
	if c == nil {
		return nil
	}
	var rows []draw.Row
	if text, ok := p.contents.texts[c.ID]; ok {
		rows = append(rows, draw.Line(draw.Text, p.glyphs.More+" "+draw.Clean(text)+" "+p.glyphs.More).Cut(w, p.glyphs.More))
	}
	o := p.options
	o.Width = max(1, w-2)
	page := p.preview.pages[c.ID]
	if v := p.views[p.view]; len(page.Blocks) == 0 && c.About != "" && v.layout(w-2).row(c, true).Width() > w-2 {
		page = commands.Say(c.About) // its row has no room for all of it
	}
	shown := draw.Indent(draw.Page(page, o), draw.Blanks(2), draw.Blanks(2))
	for _, row := range shorten(shown, max(1, h/3), p.glyphs) {
		rows = append(rows, row.In(draw.Faint).Cut(w, p.glyphs.More))
	}
	if len(rows) > 0 && h > 12 {
		rows = append([]draw.Row{nil}, rows...)
	}
	return rows
}

// hintRow returns the key hints.
func (p *Picker) hintRow(w int) draw.Row {
	var parts []string
	c := p.choice()
	if c != nil && p.list.Choose != nil {
		verb := p.list.Verb
		if verb == "" {
			verb = "chooses"
		}
		parts = append(parts, "Enter "+verb)
	}
	if c != nil && len(c.Values) > 0 {
		parts = append(parts, "Left, Right change")
	}
	for _, a := range p.actions() {
		if c != nil || a.Alone {
			parts = append(parts, spoken(a.Key)+" "+a.Name)
		}
	}
	if p.turns() {
		parts = append(parts, "PageDown more")
	}
	if len(p.views) > 1 {
		parts = append(parts, "Tab "+p.views[(p.view+1)%len(p.views)].Name)
	}
	leave := "Esc"
	if p.Nested {
		leave = "Esc back"
	}
	parts = append(parts, leave)
	dot := " " + p.glyphs.Dot + " "
	for len(parts) > 2 && cells.Width(strings.Join(parts, dot))+2 > w { // Enter and Esc stay
		parts = append(parts[:len(parts)-2], parts[len(parts)-1])
	}
	return draw.Line(draw.Faint, "  "+draw.Clean(strings.Join(parts, dot))).Cut(w, p.glyphs.More)
}

// spoken returns a key in user-facing notation.
func spoken(name string) string {
	key, err := keys.ParseKey(name)
	if err != nil {
		return name
	}
	return key.Spoken()
}
