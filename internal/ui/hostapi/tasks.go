package hostapi

import (
	"context"
	"errors"

	"adze/internal/commands"
	"adze/internal/platform/proc/task"
)

// A taskRequest is about one background task.
type taskRequest struct {
	ID string `json:"task_id"`
}

// detach moves a blocking call of the turn, or all of them, to the background.
func (a api) detach(_ context.Context, in struct {
	Use string `json:"tool_use_id"`
}) (any, error) {
	switch {
	case a.Tasks == nil:
		return nil, &Refusal{Unsupported, commands.ErrNoTasks.Error()}
	case in.Use != "":
		return object{"backgrounded": a.Tasks.DetachCall(in.Use)}, nil
	}
	return object{"backgrounded": a.Tasks.Detach()}, nil
}

// maxTaskOutput is the maximum amount of a task's output returned, in bytes.
const maxTaskOutput = 64 << 10

func (a api) listTasks(context.Context, none) (any, error) {
	list := []object{}
	if a.Tasks != nil {
		for _, t := range a.Tasks.List() {
			list = append(list, describeTask(t))
		}
	}
	return object{"tasks": list}, nil
}

func (a api) stopTask(_ context.Context, in taskRequest) (any, error) {
	t, err := a.task(in)
	if err != nil {
		return nil, err
	}
	if !t.Stop() {
		return nil, errors.New("task " + t.ID + " has ended already: " + string(t.Status()))
	}
	return none{}, nil
}

func (a api) taskOutput(_ context.Context, in taskRequest) (any, error) {
	t, err := a.task(in)
	if err != nil {
		return nil, err
	}
	text, skipped, err := t.Peek(maxTaskOutput)
	if err != nil {
		return nil, err
	}
	answer := describeTask(t)
	answer["output"], answer["truncated"], answer["total_bytes"] = text, skipped > 0, t.Output.Size()
	return answer, nil
}

// task returns the task that a request is about.
func (a api) task(in taskRequest) (*task.Task, error) {
	if a.Tasks == nil {
		return nil, &Refusal{Unsupported, commands.ErrNoTasks.Error()}
	}
	return a.Tasks.Find(in.ID) // includes awaited agents and tasks of agents
}

func describeTask(t *task.Task) object {
	return object{
		"task_id": t.ID, "status": t.Status(), "description": t.Title, "command": t.Command,
		"summary": t.Ending(), "output_file": t.Output.Path(), "duration_ms": t.Took().Milliseconds(),
	}
}
