package plain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
)

// An agentList lists the running sub-agents in the order they started.
type agentList []*runningAgent

// A runningAgent is the last reported state of a running sub-agent.
type runningAgent struct {
	session.Task
	began time.Time
}

// maxTask is the maximum length of a sub-agent's title and last action, in characters.
const maxTask = 80

// note records a sub-agent's state. Other tasks are ignored.
func (c *agentList) note(t session.Task) {
	i := slices.IndexFunc(*c, func(h *runningAgent) bool { return h.ID == t.ID })
	switch {
	case t.Type == "":
	case t.News == session.TaskEnded && i >= 0:
		*c = slices.Delete(*c, i, i+1)
	case t.News == session.TaskBegan && i < 0:
		*c = append(*c, &runningAgent{t, time.Now()})
	case i >= 0:
		(*c)[i].Task = t
	}
}

// launched reports whether a call is waiting for a sub-agent.
func (c agentList) launched(call string) bool {
	return slices.ContainsFunc(c, func(h *runningAgent) bool { return h.Use == call && !h.Background })
}

// lines returns one line per sub-agent. A nested sub-agent follows its parent and is indented.
func (c agentList) lines() []string {
	var lines []string
	for _, b := range commands.Tree(c, func(h *runningAgent) string { return h.ID }, func(h *runningAgent) string { return h.Parent }) {
		lines = append(lines, strings.Repeat("  ", b.Depth)+b.Item.String())
	}
	return lines
}

// list returns the sub-agents on one line.
func (c agentList) list() string {
	lines := c.lines()
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "; ")
}

// String describes a sub-agent's type, task, usage so far and current action.
func (h *runningAgent) String() string {
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
