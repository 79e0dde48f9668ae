package plain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/session"
	"adze/internal/tool"
)

// A crew is the sub-agents at work, in the order in which they began.
type crew []*helper

// A helper is a sub-agent at work, as it was told last.
type helper struct {
	session.Task
	began time.Time
}

// maxTask is how many characters are shown of what a sub-agent is for and did last.
const maxTask = 80

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

// String tells the type of a sub-agent, its task, what it took so far, and what it is doing.
func (h *helper) String() string {
	text := tool.OneLine(h.Type, maxTask)
	if h.Title != "" {
		text += ": " + tool.OneLine(h.Title, maxTask)
	}
	text += ", " + amount.Of(h.Used.Calls, "call", "calls")
	if h.Used.Tokens > 0 {
		text += ", " + amount.Grouped(h.Used.Tokens) + " tokens"
	}
	if doing := tool.OneLine(cmp.Or(h.Summary, h.Doing), maxTask); doing != "" {
		text += ", " + doing
	}
	return text
}
