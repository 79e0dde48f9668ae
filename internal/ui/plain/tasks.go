package plain

import (
	"adze/internal/desk"
	"adze/internal/platform/task"
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
