package transcript

import (
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A call is a running call.
type call struct {
	agent.ToolStarted
	began  time.Time
	output tool.Output
	news   string // its progress message, on one line
	beside bool   // runs outside the turn
}

// progress records the call's output.
func (c *call) progress(d tool.Display) {
	switch d := d.(type) {
	case tool.Output:
		c.output = d
	case tool.Plain:
		c.news = tool.OneLine(d.Text, maxNews)
	}
}

// calls lists the running calls.
type calls []*call

// find returns the running call with an ID, or nil.
func (cs calls) find(id string) *call {
	for _, c := range cs {
		if c.Use.ID == id {
			return c
		}
	}
	return nil
}

// forget removes a finished call and returns it, or nil if it is unknown.
func (cs *calls) forget(id string) *call {
	for i, c := range *cs {
		if c.Use.ID == id {
			*cs = slices.Delete(*cs, i, i+1)
			return c
		}
	}
	return nil
}

// Limits on running calls: how many are shown, the output lines of each, and the characters of
// its progress message. A call that will be folded is shown only if it takes longer than
// foldPatience.
const (
	liveCalls    = 4
	liveLines    = 5
	maxNews      = 200
	foldPatience = time.Second
)

// rows returns the calls in at most h rows: each with its clock, and the end of its output. A
// call that waits for a crew member is shown with the crew.
func (cs calls) rows(v view, h int, crew runningTasks) []draw.Row {
	var calls []*call
	for _, c := range cs {
		if !crew.launched(c.Use.ID) && (c.Fold == tool.NoFold || v.now.Sub(c.began) >= foldPatience) {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	most := min(liveLines, max(0, h/min(len(calls), liveCalls)-2)) // excludes the call's own row and the row below
	var rows []draw.Row
	for i, c := range calls {
		if i == liveCalls {
			return append(rows, draw.Line(draw.Faint, "  "+v.Glyphs.More+" "+count(len(calls)-i, "more call")))
		}
		mark := v.Glyphs.Active
		if i == 0 { // one glyph moves
			mark = v.spinner()
		}
		rows = append(rows, c.head(v, mark))
		rows = append(rows, c.tail(v, most)...)
	}
	return rows
}

// head returns the row with the call's mark, name and clock. A long name is cut at its end.
func (c *call) head(v view, mark string) draw.Row {
	name := c.Activity
	if c.Verb == "" {
		name = c.Object
	}
	return v.titled(draw.Accent, mark, draw.Line(draw.Text, name), draw.Line(draw.Faint, v.clock(c.began)))
}

// titled returns a row with a mark, a title and a remark. A long title is cut at its end.
func (v view) titled(role draw.Role, mark string, title, about draw.Row) draw.Row {
	row := append(draw.Row{{Role: role, Text: mark + " "}}, v.cut(title, max(8, v.w-2-about.Width()))...)
	return v.cut(append(row, about...), v.w)
}

// tail returns the last output lines of the call, its progress message, and key hints.
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
	for ; len(hints) > 0; hints = hints[:len(hints)-1] { // drop hints until the row fits
		row := draw.Line(draw.Faint, "  "+v.Glyphs.More+" "+strings.Join(hints, " "+v.Glyphs.Dot+" "))
		if row.Width() <= v.w || len(hints) == 1 {
			return append(rows, row)
		}
	}
	return rows
}

// lastLines returns the last lines of a text, without trailing empty ones.
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
