package dialog

import (
	"strings"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// A card holds the texts of a question.
type card struct {
	title    draw.Row   // the subject in a few words
	asker    string     // who asks, and how far the questions are; may be empty
	warning  string     // what the user may lose; makes the card a warning, and may be empty
	question []draw.Row // the question and remarks on it, in rows
	reason   string     // why adze asks, in one row; may be empty
	details  []detail   // shown instead of the reason on request
}

// A detail is a fact about a question.
type detail struct{ name, text string }

// indent is the number of cells before the text below a subject.
const indent = 1

// rule returns the role of the card's rules.
func (c *card) rule() draw.Role {
	if c.warning != "" {
		return draw.Warning
	}
	return draw.Accent
}

// top returns the rule with the title above a subject in w cells, and who asks in rows if it has
// no room for that. If there is no subject, the rule has no corner.
func (c *card) top(g draw.Glyphs, w int, subject bool) (top draw.Row, asker []draw.Row) {
	role := c.rule()
	corner := g.Rule
	if subject {
		corner = g.Top
	}
	if len(c.title) == 0 {
		return draw.Line(role, corner+line(g, w-1)), nil
	}
	row := draw.Row{{Role: role, Text: corner + g.Rule + " "}}
	if c.warning != "" {
		row = append(row, draw.Span{Role: role, Text: "! "})
	}
	for _, s := range c.title {
		if s.Role == draw.Title && c.warning != "" {
			s.Role = draw.Strong
		}
		row = append(row, s)
	}
	row = append(row.Cut(max(0, w-1), g.More), draw.Span{Text: " "})
	for _, s := range []draw.Span{{Role: draw.Warning, Text: strings.TrimSuffix(c.warning, ".")}, {Role: draw.Faint, Text: c.asker}} {
		switch {
		case s.Text == "":
		case row.Width()+cells.Width(g.Rule+g.Rule+" "+s.Text+" ") <= w:
			row = append(row, draw.Span{Role: role, Text: g.Rule + g.Rule + " "}, s, draw.Span{Text: " "})
		case s.Role == draw.Faint:
			asker = indented(draw.Wrap(draw.Row{s}, w-indent, nil))
		}
	}
	return append(row, draw.Span{Role: role, Text: line(g, w-row.Width())}), asker
}

// warns reports whether the rule above the subject has room for the warning.
func (c *card) warns(g draw.Glyphs, w int) bool {
	top, _ := c.top(g, w, true)
	return c.warning == "" || strings.Contains(top.String(), g.Rule+" "+strings.TrimSuffix(c.warning, ".")+" ")
}

// bottom returns the rule below a subject.
func (c *card) bottom(g draw.Glyphs, w int) draw.Row {
	return draw.Line(c.rule(), g.Bottom+line(g, w-1))
}

// warn returns the warning as rows, or nil.
func (c *card) warn(w int) []draw.Row {
	if c.warning == "" {
		return nil
	}
	return indented(draw.Wrap(draw.Row{{Role: draw.Warning, Text: "! " + c.warning}}, w-indent, draw.Blanks(2)))
}

// why returns the reason in one row, or the details in full.
func (c *card) why(g draw.Glyphs, w int, all bool) []draw.Row {
	if !all {
		if c.reason == "" {
			return nil
		}
		return indented([]draw.Row{draw.Line(draw.Faint, c.reason).Cut(max(1, w-indent), g.More)})
	}
	column := 0
	for _, d := range c.details {
		column = max(column, cells.Width(d.name)+2)
	}
	var rows []draw.Row
	for _, d := range c.details {
		row := draw.Row{{Role: draw.Faint, Text: cells.Left(d.name, column)}, {Role: draw.Text, Text: d.text}}
		rows = append(rows, draw.Wrap(row, w-indent, draw.Blanks(min(column, w/2)))...)
	}
	return indented(rows)
}

// line returns a horizontal line of n cells.
func line(g draw.Glyphs, n int) string { return strings.Repeat(g.Rule, max(0, n)) }

// indented returns rows moved to the column of the texts below a subject.
func indented(rows []draw.Row) []draw.Row {
	return draw.Indent(rows, draw.Blanks(indent), draw.Blanks(indent))
}

// fitting returns rows of at most w cells, without dropping any text.
func fitting(rows []draw.Row, w int) []draw.Row {
	out := make([]draw.Row, 0, len(rows))
	for _, row := range rows {
		if row.Width() > w {
			out = append(out, draw.Chop(row, w)...)
		} else {
			out = append(out, row)
		}
	}
	return out
}
