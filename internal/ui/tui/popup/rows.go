package popup

import (
	"fmt"
	"strings"
	"unicode"

	"adze/internal/commands/suggest"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
)

const (
	// mostRows is the maximum number of suggestions shown.
	mostRows = 10
	// narrow is the width below which command arguments are not shown.
	narrow = 60
)

// Rows draws the suggestions around the selected one. There is never a caret.
func (p *Popup) Rows(w, h int) ([]draw.Row, *screen.Point) {
	n := min(len(p.items), h, mostRows)
	if n <= 0 {
		return nil, nil
	}
	column := nameWidth(p.items, w)
	below := p.below(n, h, w, column)
	n = min(n, h-len(below))
	first := min(max(0, p.chosen-n+1), len(p.items)-n)
	if p.chosen < first {
		first = p.chosen
	}
	shown := p.items[first : first+n]
	rows := make([]draw.Row, n, n+len(below))
	for i, it := range shown {
		rows[i] = p.row(it, p.marked() && first+i == p.chosen, column, w)
	}
	return append(rows, below...), nil
}

// below returns the rows below n suggestions: the position of the selected one, if there are
// more, and its description, if its row has no room for all of it.
func (p *Popup) below(n, h, w, column int) []draw.Row {
	const most = 2
	head, doc := "  ", ""
	if n < len(p.items) {
		head = fmt.Sprintf("  %d/%d  ", p.chosen+1, len(p.items))
	}
	if it := p.items[p.chosen]; p.marked() && cells.Width(draw.Clean(it.Doc)) > w-len("  ")-column-len("  ") {
		doc = draw.Clean(it.Doc)
	}
	if h <= most || doc == "" && n == len(p.items) {
		return nil
	}
	rows := draw.Wrap(draw.Line(draw.Faint, head+doc), w, draw.Blanks(cells.Width(head)))
	return rows[:min(len(rows), most)]
}

// nameWidth returns the width of the column of names with arguments, if another column follows
// it.
func nameWidth(items []suggest.Item, w int) int {
	column, docs := 0, false
	for _, it := range items {
		column = max(column, cells.Width(draw.Clean(it.Label))+cells.Width(args(it, w)))
		docs = docs || it.Doc != ""
	}
	if !docs {
		return w
	}
	return min(column, max(w/4, min(w*2/5, 24)))
}

// args returns a command's arguments as shown after its name.
func args(it suggest.Item, w int) string {
	if it.Args == "" || w < narrow {
		return ""
	}
	return " " + draw.Clean(it.Args)
}

// row draws a suggestion.
func (p *Popup) row(it suggest.Item, chosen bool, column, w int) draw.Row {
	mark, role := "  ", draw.Text
	if chosen {
		mark, role = p.glyphs.Mark+" ", draw.Strong
	}
	r := draw.Row{{Role: draw.Accent, Text: mark}}
	name := append(label(it, role), draw.Span{Role: draw.Faint, Text: args(it, w)})
	name = p.cut(name, min(column, w-cells.Width(mark)))
	r = append(r, name...)
	if it.Doc != "" {
		gap := strings.Repeat(" ", max(0, column-name.Width())+2)
		r = p.cut(append(r, draw.Span{Role: draw.Faint, Text: gap + draw.Clean(it.Doc)}), w)
	}
	if chosen {
		return r.On(draw.SelectedGround, true)
	}
	return r
}

// cut returns as much of a row as fits into n cells, with a mark where something is omitted.
func (p *Popup) cut(r draw.Row, n int) draw.Row {
	if r.Width() <= n {
		return r
	}
	n -= cells.Width(p.glyphs.More)
	var out draw.Row
	for _, s := range r {
		end := len(s.Text)
		for i, c := range s.Text {
			if n -= cells.Of(c); n < 0 {
				end = i
				break
			}
		}
		if out = append(out, draw.Span{Role: s.Role, Text: s.Text[:end]}); n < 0 {
			break
		}
	}
	return append(out, draw.Span{Role: draw.Faint, Text: p.glyphs.More})
}

// label returns the name with the typed letters highlighted.
func label(it suggest.Item, role draw.Role) draw.Row {
	typed := map[int]bool{}
	for _, at := range it.Matched {
		typed[at] = true
	}
	var r draw.Row
	for i, c := range it.Label {
		if unicode.IsControl(c) { // a control character, which would break the row
			c = unicode.ReplacementChar
		}
		as := role
		if typed[i] {
			as = draw.Strong
		}
		if n := len(r); n > 0 && r[n-1].Role == as {
			r[n-1].Text += string(c)
			continue
		}
		r = append(r, draw.Span{Role: as, Text: string(c)})
	}
	return r
}
