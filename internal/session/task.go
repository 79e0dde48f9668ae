package session

import (
	"time"

	"adze/internal/platform/proc/task"
)

// A Task reports the state of a task: a sub-agent from its start, any other task while it runs
// in the background. It is an operation and its own event.
type Task struct {
	ID, Title string
	// Use is the call that started the task, or "".
	Use string
	// Type is the type of a sub-agent; "" for other tasks.
	Type string
	// Parent is the sub-agent that started the task; "" means the conversation. Depth is the
	// depth of a sub-agent below the conversation, starting at 1; 0 for other tasks.
	Parent string
	Depth  int

	News       TaskNews
	Status     task.Status
	Background bool
	// Chore is true for maintenance that the user did not request.
	Chore bool
	// Prompt is the prompt of a sub-agent, set when it starts.
	Prompt string
	// Summary describes the outcome, or the current work of a sub-agent in a model's words; may
	// be empty.
	Summary    string
	OutputFile string
	// Tool is the name of the last tool a sub-agent used, and Doing describes the call.
	Tool, Doing string
	Used        TaskUse
}

// TaskUse is the resources used by a task so far.
type TaskUse struct {
	Tokens, Calls int
	CostUSD       float64
	Took          time.Duration
}

// TaskNews is a kind of task event.
type TaskNews int

// The kinds of task events.
const (
	TaskBegan TaskNews = iota
	TaskWorks          // made progress
	TaskMoved          // moved to the background
	TaskEnded
)

func (Task) op()    {}
func (Task) event() {}

// TaskOf returns the state of t.
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
