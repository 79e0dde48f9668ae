package session

import (
	"time"

	"adze/internal/platform/task"
)

// A Task tells how something stands that runs beside the conversation: a sub-agent from its first moment, anything else
// while it is in the background. It is an operation, and its own event.
type Task struct {
	ID, Title string
	// Use is the call that began it, or "".
	Use string
	// Type is that of a sub-agent; "" for other tasks.
	Type string
	// Parent is the sub-agent that began it; "" is the conversation itself. Depth is how deep a sub-agent is below the
	// conversation, from 1; 0 for other tasks.
	Parent string
	Depth  int

	News       TaskNews
	Status     task.Status
	Background bool
	// Chore says that it looks after something that the user did not ask for.
	Chore bool
	// Prompt is what a sub-agent is told; it is there when the sub-agent begins.
	Prompt string
	// Summary says how it ended, or what a sub-agent is doing as a model puts it; it may be empty.
	Summary    string
	OutputFile string
	// Tool is the name of the tool that a sub-agent used last, and Doing what it did with it.
	Tool, Doing string
	Used        TaskUse
}

// A TaskUse is what a task took so far.
type TaskUse struct {
	Tokens, Calls int
	CostUSD       float64
	Took          time.Duration
}

// TaskNews says what is new about a task.
type TaskNews int

// What can be new.
const (
	TaskBegan TaskNews = iota
	TaskWorks          // it has come further
	TaskMoved          // it goes on in the background
	TaskEnded
)

func (Task) op()    {}
func (Task) event() {}

// TaskOf returns how a task of a table stands.
func TaskOf(t *task.Task, news TaskNews) Task {
	told := Task{ID: t.ID, Title: t.Title, Use: t.CallID, News: news, Status: t.Status(), Background: t.Background(), OutputFile: t.Output.Path()}
	told.Used.Took = t.Took()
	if news == TaskEnded {
		told.Summary = task.Summary(t)
	}
	if r := t.Concluded(); r != nil {
		told.Used = TaskUse{Tokens: r.Tokens, Calls: r.Calls, Took: r.Took}
	}
	return told
}
