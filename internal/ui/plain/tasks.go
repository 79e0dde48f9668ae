package plain

import (
	"context"

	"adze/internal/desk"
	"adze/internal/platform/lineedit"
	"adze/internal/platform/task"
	"adze/internal/session"
)

// A following is a task that the person waits for, and how much of its output was shown.
type following struct {
	*task.Task
	shown int64
}

// follow shows what a task prints until it ends, or the user types something.
func (f *Front) follow(t *task.Task) {
	f.followed, f.awaited = &following{t, t.Output.Size()}, true
}

// followedDone is closed when the task that the person waits for has ended; nil means that there is none.
func (f *Front) followedDone() <-chan struct{} {
	if f.followed == nil {
		return nil
	}
	return f.followed.Done()
}

// followMore shows what is new of the task that the person waits for.
func (f *Front) followMore() {
	w := f.followed
	news, size := desk.News(w.Task, w.shown)
	f.out.page(news)
	w.shown = size
	if w.Status() != task.Running {
		f.out.page(desk.Page{Blocks: []desk.Block{desk.TaskTable(w.Task)}})
		f.unfollow()
	}
}

// unfollow goes back to the conversation. The task goes on.
func (f *Front) unfollow() {
	if f.followed != nil {
		f.followed, f.awaited = nil, false
	}
}

// detaches takes the key that moves the command that runs to the background, if that is what it means
// now: while something is typed it moves the cursor.
func (f *Front) detaches(ctx context.Context, k lineedit.Key) bool {
	if k.Code != lineedit.Back || !f.working || len(f.asked) > 0 || !f.editor.Empty() {
		return false
	}
	f.submit(ctx, session.Detach{})
	return true
}
