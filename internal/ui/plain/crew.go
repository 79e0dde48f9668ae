package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/platform/amount"
	"adze/internal/platform/cells"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A crew is the sub-agents at work, in the order in which they began.
type crew []*helper

// A helper is a sub-agent at work.
type helper struct {
	id, kind, title, use string
	began                time.Time
	calls, tokens        int
	last                 string // what it did last
}

// Bounds of what is shown of sub-agents: how many of them, and characters of what they are for and did last.
const (
	liveAgents = 6
	maxTask    = 80
)

// note notes what a sub-agent does.
func (c *crew) note(b session.Beside) {
	i := slices.IndexFunc(*c, func(h *helper) bool { return h.id == b.ID })
	if i < 0 {
		i = len(*c)
		*c = append(*c, &helper{id: b.ID, kind: tool.OneLine(b.Type, maxTask), title: tool.OneLine(b.Title, maxTask), use: b.Use, began: time.Now()})
	}
	h := (*c)[i]
	switch ev := b.Event.(type) {
	case agent.ToolStarted:
		h.calls++
		h.last = tool.OneLine(ev.Title, maxTask)
	case agent.Appended:
		if u := ev.Entry.Usage; u != nil {
			h.tokens += u.Input + u.Output + u.CacheRead + u.CacheWrite
		}
	}
}

// launched reports whether a call waits for one of them.
func (c crew) launched(call string) bool {
	return slices.ContainsFunc(c, func(h *helper) bool { return h.use == call })
}

// lines returns a line about each.
func (c crew) lines() []string {
	var lines []string
	for _, h := range c {
		lines = append(lines, h.String())
	}
	return lines
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
		rows = append(rows, draw.Line(draw.Faint, "  "+cells.Cut(draw.Clean(line), max(8, p.width()-2))))
	}
	return rows
}

// String tells the type of a sub-agent, its task, what it took so far, and what it did last.
func (h *helper) String() string {
	text := h.kind
	if h.title != "" {
		text += ": " + h.title
	}
	took := amount.Of(h.calls, "call", "calls")
	if h.tokens > 0 {
		took += ", " + amount.Grouped(h.tokens) + " tokens"
	}
	return strings.Join(append([]string{text, took}, slices.DeleteFunc([]string{h.last}, func(s string) bool { return s == "" })...), " · ")
}

// attend forgets the sub-agents that have ended. The table is that of the tasks, and may be nil: then one works as long as
// its call does.
func (s *status) attend(table *task.Table) {
	s.crew = slices.DeleteFunc(s.crew, func(h *helper) bool {
		if table != nil {
			if t, err := table.Get(h.id); err == nil {
				return t.Status() != task.Running
			}
		}
		return !slices.ContainsFunc(s.calls, func(c *call) bool { return c.id == h.use })
	})
}
