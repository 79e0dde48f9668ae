package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A runningTasks lists the running sub-agents and background tasks in the order they started.
type runningTasks []*runningTask

// A runningTask is the last reported state of a crew member.
type runningTask struct {
	session.Task
	began time.Time
}

// Limits on a crew: how many members are shown, and the characters of their activity.
const (
	liveHelpers = 6
	maxTask     = 80
)

// task records a task's state.
func (t *Transcript) task(ev session.Task) {
	i := slices.IndexFunc(t.crew, func(h *runningTask) bool { return h.ID == ev.ID })
	switch {
	case ev.Chore:
	case ev.News == session.TaskEnded:
		if i >= 0 {
			t.crew = slices.Delete(t.crew, i, i+1)
		}
	case i >= 0:
		t.crew[i].Task = ev
	default:
		t.crew = append(t.crew, &runningTask{ev, t.cfg.Now()})
	}
}

// launched reports whether a call is waiting for a crew member.
func (c runningTasks) launched(call string) bool {
	return slices.ContainsFunc(c, func(h *runningTask) bool { return h.Use == call && !h.Background })
}

// rows returns one row per crew member. A nested one follows its parent and is indented.
func (c runningTasks) rows(v view) []draw.Row {
	var rows []draw.Row
	for i, b := range commands.Tree(c, func(h *runningTask) string { return h.ID }, func(h *runningTask) string { return h.Parent }) {
		if i == liveHelpers {
			return append(rows, draw.Line(draw.Faint, v.Glyphs.More+" "+amount.Grouped(len(c)-i)+" more"))
		}
		inner := v
		inner.w = max(16, v.w-2*b.Depth)
		rows = append(rows, append(draw.Blanks(2*b.Depth), b.Item.row(inner)...))
	}
	return rows
}

// TaskEnded shows that a background task has ended, with the end of its output if it failed.
func (r *record) TaskEnded(k *task.Task) {
	state := string(k.Status())
	if ending := k.Ending(); ending != "" {
		state += ", " + ending
	}
	kind := "Task "
	if report := k.Concluded(); report != nil {
		kind = "Agent "
		state += ", " + tokens(report.Tokens)
	}
	tail, lines := k.Output.Tail(tailBytes)
	e := &ended{outcome{elapsed: k.Took(), result: &msg.ToolResult{IsError: k.Status() != task.Completed}}, state, k.Status() == task.Failed}
	e.Title = kind + k.ID + ", " + k.Title
	e.display = tool.Output{Text: string(tail), Lines: lines, File: k.Output.Path()}
	r.put(e)
}

// tailBytes is the number of bytes read from the end of a task's output.
const tailBytes = 8 << 10

// An ended task is shown like a call.
type ended struct {
	outcome
	state  string
	prints bool // the end of its output is shown
}

func (e *ended) take(v view, closed bool) []draw.Row { return e.rows(v) }
func (e *ended) live(v view, closed bool) []draw.Row { return e.rows(v) }

func (e *ended) rows(v view) []draw.Row {
	role, mark := draw.Good, v.Glyphs.Done
	if e.failed() {
		role, mark = draw.Bad, v.Glyphs.Failed
	}
	about := ": " + e.state
	if e.elapsed >= patience {
		about += ", " + elapsed(e.elapsed)
	}
	rows := []draw.Row{v.titled(role, mark, draw.Line(draw.Text, e.Title), draw.Line(draw.Faint, about))}
	if e.prints {
		rows = append(rows, e.output(v, e.display.(tool.Output))...)
	}
	return rows
}

// row returns a helper's activity and usage.
func (h *runningTask) row(v view) draw.Row {
	name := tool.OneLine(cmp.Or(h.Type, h.Title), maxTask)
	if h.Type != "" && h.Title != "" {
		name += " (" + tool.OneLine(h.Title, maxTask) + ")"
	}
	if doing := tool.OneLine(cmp.Or(h.Summary, h.Doing), maxTask); doing != "" {
		name += ": " + doing
	}
	about := ""
	if h.Background {
		about = " " + v.Glyphs.Dot + " background"
	} else {
		about = v.clock(h.began)
	}
	var used []string
	if h.Used.Tokens > 0 {
		used = append(used, tokens(h.Used.Tokens))
	}
	if h.Used.CostUSD > 0 {
		used = append(used, amount.USD(h.Used.CostUSD))
	}
	if len(used) > 0 {
		about += ", " + strings.Join(used, ", ")
	}
	return v.titled(draw.Accent, v.Glyphs.Active, draw.Line(draw.Text, name), draw.Line(draw.Faint, about))
}
