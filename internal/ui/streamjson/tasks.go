package streamjson

import (
	"slices"
	"time"

	"adze/internal/platform/proc/task"
	"adze/internal/session"
)

// taskTypes maps the first letter of a task ID to the protocol name of its kind.
var taskTypes = map[byte]string{
	task.Agent: "local_agent", task.Shell: "local_bash", task.Teammate: "in_process_teammate", task.Workflow: "local_workflow",
	task.Monitor: "monitor", task.Dream: "dream",
}

func taskType(id string) string {
	if id == "" {
		return ""
	}
	return taskTypes[id[0]]
}

// A taskPrinter prints the state changes of tasks.
type taskPrinter struct {
	emit   func(*Object)
	now    func() time.Time
	behind []session.Task // background tasks
}

// Task prints a task's state change: start, progress, move to the background, or end. Whenever
// the list of background tasks changes, it is printed as well.
func (p *taskPrinter) Task(t session.Task) {
	switch t.News {
	case session.TaskBegan:
		p.began(t)
	case session.TaskWorks:
		p.works(t)
	case session.TaskMoved:
		if t.Type == "" { // new to clients
			p.began(t)
			break
		}
		o := taskLine("task_updated", t)
		o.Object("patch", func(o *Object) { o.Bool("is_backgrounded", true) })
		p.emit(o)
	case session.TaskEnded:
		p.ended(t)
	}
	p.background(t)
}

func (p *taskPrinter) began(t session.Task) {
	o := taskLine("task_started", t)
	o.StrIf("tool_use_id", t.Use)
	o.Str("description", t.Title)
	o.StrIf("subagent_type", t.Type)
	o.Bool("is_backgrounded", t.Background)
	if t.Depth > 0 {
		o.Int("spawn_depth", int64(t.Depth))
	}
	o.StrIf("parent_task_id", t.Parent)
	o.StrIf("task_type", taskType(t.ID))
	o.StrIf("prompt", t.Prompt)
	chore(o, t)
	p.emit(o)
}

func (p *taskPrinter) works(t session.Task) {
	o := taskLine("task_progress", t)
	o.StrIf("tool_use_id", t.Use)
	o.Str("description", t.Title)
	o.StrIf("subagent_type", t.Type)
	used(o, t)
	o.StrIf("last_tool_name", t.Tool)
	o.StrIf("summary", t.Summary)
	p.emit(o)
}

func (p *taskPrinter) ended(t session.Task) {
	o := taskLine("task_updated", t)
	o.Object("patch", func(o *Object) {
		o.Str("status", string(t.Status))
		o.Int("end_time", p.now().UnixMilli())
	})
	p.emit(o)
	status := string(t.Status)
	if t.Status == task.Killed {
		status = "stopped" // protocol name
	}
	o = taskLine("task_notification", t)
	o.StrIf("tool_use_id", t.Use)
	o.Str("status", status)
	o.Str("output_file", t.OutputFile)
	o.Str("summary", t.Summary)
	used(o, t)
	chore(o, t)
	p.emit(o)
}

func taskLine(subtype string, t session.Task) *Object {
	o := System(subtype)
	o.Str("task_id", t.ID)
	return o
}

func used(o *Object, t session.Task) {
	o.Object("usage", func(o *Object) {
		o.Int("total_tokens", int64(t.Used.Tokens))
		o.Int("tool_uses", int64(t.Used.Calls))
		o.Int("duration_ms", t.Used.Took.Milliseconds())
	})
}

// chore marks a task that clients omit from the conversation.
func chore(o *Object, t session.Task) {
	if t.Chore {
		o.Bool("skip_transcript", true)
		o.Bool("ambient", true)
	}
}

// background prints the background tasks if they have changed since they were last printed.
func (p *taskPrinter) background(t session.Task) {
	i := slices.IndexFunc(p.behind, func(b session.Task) bool { return b.ID == t.ID })
	switch {
	case i < 0 && t.Background && t.News != session.TaskEnded:
		p.behind = append(p.behind, t)
	case i >= 0 && t.News == session.TaskEnded:
		p.behind = slices.Delete(p.behind, i, i+1)
	default:
		return
	}
	o := System("background_tasks_changed")
	o.List("tasks", len(p.behind), func(i int, item *Object) {
		b := p.behind[i]
		item.Str("task_id", b.ID)
		item.Str("task_type", taskType(b.ID))
		item.StrIf("subagent_type", b.Type)
		item.Str("description", b.Title)
		item.StrIf("parent_task_id", b.Parent)
		if b.Chore {
			item.Bool("ambient", true)
		}
	})
	p.emit(o)
}
