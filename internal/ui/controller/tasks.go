package controller

import (
	"context"

	"adze/internal/commands"
	"adze/internal/platform/proc/task"
)

// A follower shows the output of a task while the user waits for it. It may be nil.
type follower struct {
	task  *task.Task
	shown int64 // bytes of output shown
}

func follow(t *task.Task) *follower { return &follower{t, t.Output.Size()} }

// done returns a channel that is closed when the task has ended.
func (w *follower) done() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.task.Done()
}

// show shows the new output of the task, and reports whether it is still running.
func (w *follower) show(s Screen) bool {
	var news commands.Page
	news, w.shown = commands.TaskOutput(w.task, w.shown)
	s.Page(news)
	if w.task.Status() == task.Running {
		return true
	}
	s.Page(commands.Page{Blocks: []commands.Block{commands.TaskTable(w.task)}})
	return false
}

// A watch waits for the ends of background tasks, to notify the user.
type watch struct {
	ctx   context.Context
	known map[string]bool
	ended chan *task.Task
}

func newWatch(ctx context.Context) *watch {
	return &watch{ctx, map[string]bool{}, make(chan *task.Task)}
}

// look starts waiting for new tasks in the table, which may be nil.
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

// running returns the running background tasks.
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
