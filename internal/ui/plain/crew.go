package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/platform/cells"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A crew is the sub-agents at work, in the order in which they began.
type crew []*helper

// A helper is a sub-agent at work, as it was told last.
type helper struct {
	session.Task
	began time.Time
}

// Bounds of what is shown of sub-agents: how many of them, and characters of what they are for and did last.
const (
	liveAgents = 6
	maxTask    = 80
)

// note notes how a sub-agent stands. Other tasks are none of them.
func (c *crew) note(t session.Task) {
	i := slices.IndexFunc(*c, func(h *helper) bool { return h.ID == t.ID })
	switch {
	case t.Type == "":
	case t.News == session.TaskEnded && i >= 0:
		*c = slices.Delete(*c, i, i+1)
	case t.News == session.TaskBegan && i < 0:
		*c = append(*c, &helper{t, time.Now()})
	case i >= 0:
		(*c)[i].Task = t
	}
}

// launched reports whether a call waits for one of them.
func (c crew) launched(call string) bool {
	return slices.ContainsFunc(c, func(h *helper) bool { return h.Use == call && !h.Background })
}

// lines returns a line about each: one that another launched comes after that, further to the right.
func (c crew) lines() []string {
	var lines []string
	for _, b := range desk.Tree(c, func(h *helper) string { return h.ID }, func(h *helper) string { return h.Parent }) {
		lines = append(lines, strings.Repeat("  ", b.Depth)+b.Item.String())
	}
	return lines
}

// list returns them in a line.
func (c crew) list() string {
	lines := c.lines()
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "; ")
}

// rows returns them as live rows: one in a row, several below a row that counts them.
func (c crew) rows(p *printer, hint string) []draw.Row {
	if len(c) == 0 || time.Since(c[0].began) < callPatience {
		return nil
	}
	about := clock(c[0].began)
	if len(c) == 1 {
		return []draw.Row{p.row(draw.Strong, c[0].String(), about, hint)}
	}
	rows := []draw.Row{p.row(draw.Strong, fmt.Sprintf("%d agents at work", len(c)), about, hint)}
	for i, line := range c.lines() {
		if i == liveAgents {
			return append(rows, draw.Line(draw.Faint, fmt.Sprintf("  … %d more", len(c)-i)))
		}
		rows = append(rows, draw.Line(draw.Faint, "  "+cells.Cut(draw.Clean(line), max(8, p.width()-2), "…")))
	}
	return rows
}

// String tells the type of a sub-agent, its task, what it took so far, and what it is doing.
func (h *helper) String() string {
	text := tool.OneLine(h.Type, maxTask)
	if h.Title != "" {
		text += ": " + tool.OneLine(h.Title, maxTask)
	}
	text += " · " + amount.Of(h.Used.Calls, "call", "calls")
	if h.Used.Tokens > 0 {
		text += ", " + amount.Grouped(h.Used.Tokens) + " tokens"
	}
	if doing := tool.OneLine(cmp.Or(h.Summary, h.Doing), maxTask); doing != "" {
		text += " · " + doing
	}
	return text
}
