package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/term/cells"
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

// rows returns one row per crew member, with aligned columns, and a row with totals above
// several. A nested one follows its parent and is indented.
func (c runningTasks) rows(v view) []draw.Row {
	tree := commands.Tree(c, func(h *runningTask) string { return h.ID }, func(h *runningTask) string { return h.Parent })
	if len(tree) == 1 {
		return []draw.Row{c[0].row(v, draw.Row{{Role: draw.Accent, Text: v.Glyphs.Active + " "}}, c.columns(tree))}
	}
	if len(tree) == 0 {
		return nil
	}
	rows := []draw.Row{c.head(v)}
	shown := tree[:min(len(tree), liveHelpers)]
	columns := c.columns(shown)
	for i, b := range shown {
		mark := v.Glyphs.Tee
		if i == len(tree)-1 {
			mark = v.Glyphs.Corner
		}
		rows = append(rows, b.Item.row(v, draw.Line(draw.Faint, "  "+strings.Repeat("  ", b.Depth)+mark+" "), columns))
	}
	if left := len(tree) - len(shown); left > 0 {
		rows = append(rows, draw.Line(draw.Faint, "  "+v.Glyphs.More+" "+amount.Grouped(left)+" more"))
	}
	return rows
}

// head returns the row with the number of members and what they have used.
func (c runningTasks) head(v view) draw.Row {
	var total runningTask
	agents := 0
	for _, h := range c {
		if h.Type != "" {
			agents++
		}
		if !h.Background && (total.began.IsZero() || h.began.Before(total.began)) {
			total.began = h.began
		}
		total.Used.Tokens, total.Used.CostUSD = total.Used.Tokens+h.Used.Tokens, total.Used.CostUSD+h.Used.CostUSD
	}
	var names []string
	if agents > 0 {
		names = append(names, count(agents, "agent"))
	}
	if n := len(c) - agents; n > 0 {
		names = append(names, count(n, "task"))
	}
	total.Background = total.began.IsZero()
	return v.spread(draw.Row{{Role: draw.Accent, Text: v.Glyphs.Active + " "}, {Text: strings.Join(names, ", ")}}, total.used(v))
}

// columns returns the widths of the titles, with what precedes them, and of the types.
func (c runningTasks) columns(tree []commands.Branch[*runningTask]) (widths [2]int) {
	const mostTitle, mostType = 40, 16
	for _, b := range tree {
		before := 2
		if len(c) > 1 {
			before = 4 + 2*b.Depth
		}
		widths[0] = max(widths[0], before+min(mostTitle, cells.Width(b.Item.title())))
		widths[1] = max(widths[1], min(mostType, cells.Width(tool.OneLine(b.Item.Type, mostType))))
	}
	return widths
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

// title returns what the task is about, on one line.
func (h *runningTask) title() string { return tool.OneLine(cmp.Or(h.Title, h.Type), maxTask) }

// row returns the member's title, type, activity and usage, in columns of the given widths. In a
// narrow window the type is left out.
func (h *runningTask) row(v view, head draw.Row, widths [2]int) draw.Row {
	const narrow = 50
	used := h.used(v)
	column := min(widths[0], max(12, v.w/2), max(8, v.w-2-cells.Width(used)))
	row := v.cut(append(head, draw.Span{Text: draw.Clean(h.title())}), column)
	pad := func() { row = append(row, draw.Span{Text: draw.Blank(column + 2 - row.Width())}) }
	if widths[1] > 0 && v.w >= narrow {
		if h.Title != "" && h.Type != "" {
			pad()
			row = append(row, v.cut(draw.Line(draw.Faint, tool.OneLine(h.Type, maxTask)), widths[1])...)
		}
		column += 2 + widths[1]
	}
	if doing := tool.OneLine(cmp.Or(h.Summary, h.Doing), maxTask); doing != "" {
		pad()
		row = append(row, draw.Span{Text: doing})
	}
	return v.spread(row, used)
}

// used describes what the member has used.
func (h *runningTask) used(v view) string {
	var used []string
	if h.Background {
		used = append(used, "background")
	} else if text := strings.TrimSpace(v.clock(h.began)); text != "" {
		used = append(used, text)
	}
	if h.Used.Tokens > 0 {
		used = append(used, tokens(h.Used.Tokens))
	}
	if h.Used.CostUSD > 0 {
		used = append(used, amount.USD(h.Used.CostUSD))
	}
	return strings.Join(used, " "+v.Glyphs.Dot+" ")
}

// spread returns a row with a remark at its right end. A long row is cut.
func (v view) spread(row draw.Row, about string) draw.Row {
	const widest = 120 // a remark further away is not seen as part of the row
	w := min(v.w, widest)
	if about == "" {
		return v.cut(row, w)
	}
	row = v.cut(row, max(8, w-2-cells.Width(about)))
	return append(row, draw.Span{Text: draw.Blank(max(2, w-row.Width()-cells.Width(about)))}, draw.Span{Role: draw.Faint, Text: about})
}
