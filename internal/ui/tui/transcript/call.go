package transcript

import (
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A call is running.
type call struct {
	agent.ToolStarted
	began  time.Time
	output tool.Output
	news   string // what it says of its progress, in a line
	beside bool   // it does not belong to the turn
}

// progress takes what the call prints.
func (c *call) progress(d tool.Display) {
	switch d := d.(type) {
	case tool.Output:
		c.output = d
	case tool.Plain:
		c.news = tool.OneLine(d.Text, maxNews)
	}
}

// calls are those that run.
type calls []*call

// find returns the call of an id; nil if it does not run.
func (cs calls) find(id string) *call {
	for _, c := range cs {
		if c.Use.ID == id {
			return c
		}
	}
	return nil
}

// forget removes a call that has ended, and returns it; nil if it was not known.
func (cs *calls) forget(id string) *call {
	for i, c := range *cs {
		if c.Use.ID == id {
			*cs = slices.Delete(*cs, i, i+1)
			return c
		}
	}
	return nil
}

// Bounds of what is shown of running calls: how many of them, lines of what one prints, and characters of its news. A call
// that will be folded is shown when it takes longer than foldPatience.
const (
	liveCalls    = 4
	liveLines    = 5
	maxNews      = 200
	foldPatience = time.Second
)

// rows returns the calls as at most h rows: each with its clock, and the end of what it prints. A call that waits for one of
// the crew is told there.
func (cs calls) rows(v view, h int, crew crew) []draw.Row {
	var calls []*call
	for _, c := range cs {
		if !crew.launched(c.Use.ID) && (c.Fold == tool.NoFold || v.now.Sub(c.began) >= foldPatience) {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	most := min(liveLines, max(0, h/min(len(calls), liveCalls)-2)) // besides the row of the call itself and the one below
	var rows []draw.Row
	for i, c := range calls {
		if i == liveCalls {
			return append(rows, draw.Line(draw.Faint, "  "+v.Glyphs.More+" "+count(len(calls)-i, "more call")))
		}
		rows = append(rows, c.head(v))
		rows = append(rows, c.tail(v, most)...)
	}
	return rows
}

// head returns the row with the name and the clock of the call. The end of a long name makes way.
func (c *call) head(v view) draw.Row {
	name := c.Activity
	if c.Verb == "" {
		name = c.Object
	}
	return v.titled(draw.Accent, v.Glyphs.Active, draw.Line(draw.Text, name), draw.Line(draw.Faint, v.clock(c.began)))
}

// titled returns a row with a mark, a title and what there is to say of it. The end of a long title makes way.
func (v view) titled(role draw.Role, mark string, title, about draw.Row) draw.Row {
	row := append(draw.Row{{Role: role, Text: mark + " "}}, v.cut(title, max(8, v.w-2-about.Width()))...)
	return v.cut(append(row, about...), v.w)
}

// tail returns the last lines that the call printed, what it says of its progress, and what the user can do.
func (c *call) tail(v view, most int) []draw.Row {
	var rows []draw.Row
	if c.news != "" && most > 0 {
		rows = append(rows, draw.Line(draw.Faint, "  "+c.news))
	}
	lines := lastLines(c.output.Text, most)
	for _, line := range lines {
		rows = append(rows, draw.Line(draw.Faint, "  "+line))
	}
	if most == 0 || c.output.Command == "" && len(lines) == 0 {
		return rows
	}
	var hints []string
	if c.output.Lines > len(lines) {
		hints = append(hints, count(c.output.Lines, "line"))
	}
	if v.keys.Background != "" && !c.output.Stays && v.now.Sub(c.began) >= patience {
		hints = append(hints, v.keys.Background+" background")
	}
	if v.keys.All != "" && c.output.Lines > len(lines) {
		hints = append(hints, v.keys.All+" all")
	}
	for ; len(hints) > 0; hints = hints[:len(hints)-1] { // as many as there is room for
		row := draw.Line(draw.Faint, "  "+v.Glyphs.More+" "+strings.Join(hints, " "+v.Glyphs.Dot+" "))
		if row.Width() <= v.w || len(hints) == 1 {
			return append(rows, row)
		}
	}
	return rows
}

// lastLines returns the last lines of a text, without empty ones at its end.
func lastLines(text string, most int) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" || most <= 0 {
		return nil
	}
	at := len(text)
	for range most {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			break
		}
	}
	return strings.Split(text[at+1:], "\n")
}
