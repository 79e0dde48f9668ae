package app

import (
	"context"
	"errors"

	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/ui/headless"
)

// A taskRequest is about one background task.
type taskRequest struct {
	ID string `json:"task_id"`
}

// maxTaskOutput bounds what a host is told of the output of a task, in bytes.
const maxTaskOutput = 64 << 10

// detach lets the command that is waited for go on in the background.
func (d *hosting) detach(ctx context.Context, _ none) (any, error) {
	return none{}, d.s.Submit(ctx, session.Detach{})
}

func (d *hosting) listTasks(context.Context, none) (any, error) {
	list := []object{}
	if d.b.tasks != nil {
		for _, t := range d.b.tasks.List() {
			list = append(list, describeTask(t))
		}
	}
	return object{"tasks": list}, nil
}

func (d *hosting) stopTask(_ context.Context, in taskRequest) (any, error) {
	t, err := d.task(in)
	if err != nil {
		return nil, err
	}
	if !t.Stop() {
		return nil, errors.New("task " + t.ID + " has ended already: " + string(t.Status()))
	}
	return none{}, nil
}

func (d *hosting) taskOutput(_ context.Context, in taskRequest) (any, error) {
	t, err := d.task(in)
	if err != nil {
		return nil, err
	}
	text, skipped, err := t.Peek(maxTaskOutput)
	if err != nil {
		return nil, err
	}
	answer := describeTask(t)
	answer["output"], answer["truncated"] = text, skipped > 0
	return answer, nil
}

// task returns the task that a request is about.
func (d *hosting) task(in taskRequest) (*task.Task, error) {
	if d.b.tasks == nil {
		return nil, &headless.Refusal{Code: "unsupported_request", Text: "background tasks are disabled"}
	}
	return d.b.tasks.Get(in.ID)
}

func describeTask(t *task.Task) object {
	return object{
		"task_id": t.ID, "status": t.Status(), "description": t.Title, "command": t.Command,
		"summary": t.Ending(), "output_file": t.Output.Path(), "duration_ms": t.Took().Milliseconds(),
	}
}
