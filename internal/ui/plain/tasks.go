package plain

import (
	"context"
	"fmt"
	"time"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/platform/task"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A follower shows the output of a task while the user waits for it. It may be nil.
type follower struct {
	task  *task.Task
	shown int64 // bytes of its output
}

func follow(t *task.Task) *follower { return &follower{t, t.Output.Size()} }

// done is closed when the task has ended.
func (w *follower) done() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.task.Done()
}

// show writes the new output of the task, and reports whether it still runs.
func (w *follower) show(p *printer) bool {
	var news desk.Page
	news, w.shown = desk.News(w.task, w.shown)
	p.page(news)
	if w.task.Status() == task.Running {
		return true
	}
	p.page(desk.Page{Blocks: []desk.Block{desk.TaskTable(w.task)}})
	return false
}

// A watch waits for the ends of background tasks, to tell the user.
type watch struct {
	ctx   context.Context
	known map[string]bool
	ended chan *task.Task
}

func newWatch(ctx context.Context) *watch {
	return &watch{ctx, map[string]bool{}, make(chan *task.Task)}
}

// look begins to wait for the tasks that are new in the table, which may be nil.
func (w *watch) look(table *task.Table) {
	for _, t := range running(table) {
		if w.known[t.ID] {
			continue
		}
		w.known[t.ID] = true
		go func() {
			select {
			case <-t.Done():
			case <-w.ctx.Done():
				return
			}
			select {
			case w.ended <- t:
			case <-w.ctx.Done():
			}
		}()
	}
}

// running returns the tasks in the background that run.
func running(table *task.Table) []*task.Task {
	if table == nil {
		return nil
	}
	var tasks []*task.Task
	for _, t := range table.List() {
		if t.Background() && t.Status() == task.Running {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// taskEnded tells the user that a background task has ended, with the end of its output if it failed.
func (p *printer) taskEnded(t *task.Task) {
	role, state := draw.Good, string(t.Status())
	if t.Status() != task.Completed {
		role = draw.Bad
	}
	if ending := t.Ending(); ending != "" {
		state += ", " + ending
	}
	kind := "Task "
	if r := t.Concluded(); r != nil {
		kind = "Agent "
		state += fmt.Sprintf(", %s, %s tokens", amount.Of(r.Calls, "call", "calls"), amount.Grouped(r.Tokens))
	}
	p.outcome(role, kind+t.ID+", "+t.Title, fmt.Sprintf("%s (%v)", state, t.Took().Round(100*time.Millisecond)))
	if t.Status() == task.Failed {
		tail, lines := t.Output.Tail(tailBytes)
		p.output(tool.Output{Text: string(tail), Lines: lines, File: t.Output.Path()}, outputLines)
	}
}

// tailBytes is how much of the end of a task's output is looked at.
const tailBytes = 8 << 10
