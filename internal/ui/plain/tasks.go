package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/platform/lineedit"
	"adze/internal/platform/task"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
)

const (
	// shownTail is how much of the end of a task's output is looked at, in bytes, and tailLines how many
	// lines of it are shown.
	shownTail = 16 << 10
	tailLines = 20
)

// tasks lists the background tasks, or does something with one of them.
func (f *Front) tasks(_ context.Context, arg string) {
	if f.cfg.Tasks == nil || f.cfg.Tasks() == nil {
		f.out.say("Nothing runs in the background here.")
		return
	}
	verb, id, named := strings.Cut(arg, " ")
	if !named {
		verb, id = "", arg
	}
	if id == "" {
		f.listTasks()
		return
	}
	t, err := f.cfg.Tasks().Get(strings.TrimSpace(id))
	switch {
	case err != nil:
		f.out.say(err.Error())
	case verb == "":
		f.taskLine(t)
		f.taskTail(t)
	case verb == "stop" && t.Stop():
		f.out.say("The task is being stopped.")
	case verb == "stop":
		f.out.say("The task has ended already.")
	case verb == "fg":
		f.taskLine(t)
		f.follow(t)
	default:
		f.out.say("Write /tasks, /tasks ID, /tasks stop ID or /tasks fg ID.")
	}
}

// listTasks shows every task, and says what can be done with them.
func (f *Front) listTasks() {
	list := f.cfg.Tasks().List()
	if len(list) == 0 {
		f.out.say("No task was started. Ctrl-B moves a command that runs to the background.")
		return
	}
	for _, t := range list {
		f.taskLine(t)
	}
	f.out.say("/tasks ID shows what one has printed, /tasks stop ID ends it, /tasks fg ID waits for it.")
}

func (f *Front) taskLine(t *task.Task) {
	state := string(t.Status())
	if ending := t.Ending(); ending != "" {
		state += ", " + ending
	}
	title := term.Sanitize(tool.OneLine(t.Title, max(20, f.out.width()-len(state)-24)))
	f.out.line(fmt.Sprintf("%s  %s  %s, %v", t.ID, title, state, t.Took().Round(time.Second)))
}

// taskTail shows the end of what a task has printed.
func (f *Front) taskTail(t *task.Task) {
	tail, lines := t.Output.Tail(shownTail)
	if text := strings.TrimRight(strings.ToValidUTF8(string(tail), ""), "\n"); text != "" {
		last := strings.Split(text, "\n")
		shown := last[max(0, len(last)-tailLines):]
		if lines > len(shown) {
			f.out.line(fmt.Sprintf("  … %d lines before this are in %s", lines-len(shown), term.Sanitize(t.Output.Path())))
		}
		f.out.display(tool.Plain{Text: strings.Join(shown, "\n")})
		return
	}
	f.out.line("  It has printed nothing.")
}

// A following is a task that the person waits for, and how much of its output was shown.
type following struct {
	*task.Task
	shown int64
}

// follow shows what a task prints until it ends, or the person types something.
func (f *Front) follow(t *task.Task) {
	f.taskTail(t)
	if t.Status() == task.Running {
		f.followed, f.awaited = &following{t, t.Output.Size()}, true
	}
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
	size := w.Output.Size()
	from := max(w.shown, size-shownTail)
	buf := make([]byte, size-from)
	if n, err := w.Output.ReadAt(buf, from); err == nil && n > 0 {
		if from > w.shown {
			f.out.line(fmt.Sprintf("  … %d bytes are left out", from-w.shown))
		}
		f.out.display(tool.Plain{Text: strings.ToValidUTF8(strings.TrimRight(string(buf), "\n"), "\uFFFD")})
	}
	w.shown = size
	if w.Status() != task.Running {
		f.taskLine(w.Task)
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
