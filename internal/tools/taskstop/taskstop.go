// Package taskstop implements the tool that stops a background task.
package taskstop

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// patience is how long the call waits for the task to end; it is killed soon after in any case.
const patience = 6 * time.Second

// Name is the tool's name.
const Name = "TaskStop"

//go:embed taskstop.md
var doc string

//go:embed taskstop.zh.md
var chinese string

//go:embed taskstop.schema.json
var inputSchema string

//go:embed taskstop.output.json
var outputSchema string

// Input is the tool's input.
type Input struct{ command.TaskRef }

// Title returns a line for dialogs and logs.
func (in Input) Title() string { return "Stop task " + in.TaskID }

// Activity returns the spinner text.
func (in Input) Activity() string { return "Stopping " + in.TaskID }

// Output is the structured result.
type Output struct {
	TaskID  string `json:"taskId"`
	Command string `json:"command"`
	Status  string `json:"status"`
}

// New returns the tool for a table. If the table is nil, it is not offered.
func New(table *task.Table) tool.Tool {
	return tool.New(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			MainOnly:  true,
			Served:    &tool.Annotations{},
			Params:    tool.Params{Texts: []string{"task_id"}},
			Translate: tool.InChinese(chinese),
			Aliases:   []string{"KillShell"},
			Hint:      "stop a background task",
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Enabled:   func() error { return command.NoTasks(table) },
		},
	}, func(ctx context.Context, in Input, _ func(tool.Progress)) (tool.Result, error) {
		return run(ctx, table, in)
	})
}

func run(ctx context.Context, table *task.Table, in Input) (tool.Result, error) {
	t, err := table.Get(in.TaskID)
	if err != nil {
		return tool.Result{}, err
	}
	release := task.ExpectReport(t)
	if !t.Stop() {
		release(false)
		return tool.Result{}, fmt.Errorf("task %s has already ended: %s (%s)", t.ID, t.Status(), t.Ending())
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-t.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
	release(t.Status() != task.Running)
	text := fmt.Sprintf("Task %s (%s) was stopped. Its output is in %s.", t.ID, t.Title, t.Output.Path())
	result := tool.Text(text)
	result.Display = tool.Plain{Text: text}
	result.Structured = Output{TaskID: t.ID, Command: t.Command, Status: string(task.Killed)}
	return result, nil
}
