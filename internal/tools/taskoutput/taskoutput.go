// Package taskoutput implements the tool that reads the output of a background task.
package taskoutput

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

const (
	// defaultWait is the default timeout of a blocking call.
	defaultWait = 30 * time.Second
	// maxChars is the maximum number of characters of output shown.
	maxChars = 30_000
)

// Name is the tool's name.
const Name = "TaskOutput"

//go:embed taskoutput.md
var doc string

//go:embed taskoutput.zh.md
var chinese string

//go:embed taskoutput.schema.json
var inputSchema string

//go:embed taskoutput.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	command.TaskRef
	Block   bool `json:"block,omitempty"`
	Timeout int  `json:"timeout,omitempty"`
	OnlyNew bool `json:"only_new,omitempty"`
}

// Concurrent returns true: reading does not affect other calls.
func (in Input) Concurrent() bool { return true }

// Title returns a line for dialogs and logs.
func (in Input) Title() string { return "Read the output of task " + in.TaskID }

// Activity returns the spinner text.
func (in Input) Activity() string { return "Reading the output of " + in.TaskID }

// Output is the structured result.
type Output struct {
	TaskID     string `json:"taskId"`
	Status     string `json:"status"`
	Output     string `json:"output"`
	OutputFile string `json:"outputFile"`
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
			Hint:      "read the output of a background task",
			Waits:     true,
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
	if t.Status() != task.Running && in.OnlyNew && !t.Unread() {
		return tool.Result{}, fmt.Errorf("task %s has ended: %s. All of its output was read; it is in %s", t.ID, state(t), t.Output.Path())
	}
	release := task.ExpectReport(t)
	if in.Block {
		wait(ctx, t, in)
	}
	if err := ctx.Err(); err != nil {
		release(false)
		return tool.Result{}, err
	}
	text, skipped, err := t.Read(in.OnlyNew, maxChars)
	if err != nil {
		release(false)
		return tool.Result{}, err
	}
	status := t.Status()
	release(status != task.Running)
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s: %s\n", t.ID, state(t))
	if skipped > 0 {
		fmt.Fprintf(&b, "[%d bytes before this are left out; all of it is in %s]\n", skipped, t.Output.Path())
	}
	if text = strings.TrimRight(text, "\n"); text == "" {
		text = "(no output)"
		if in.OnlyNew {
			text = "(no new output)"
		}
	}
	b.WriteString(text)
	shown := b.String()
	if remarks := t.Remarks(); remarks != "" {
		b.WriteString("\n" + remarks)
	}
	result := tool.Text(b.String())
	result.Structured = Output{TaskID: t.ID, Status: string(status), Output: text, OutputFile: t.Output.Path()}
	result.Display = tool.Plain{Text: shown}
	return result, nil
}

// wait waits for the end of the task, up to the call's timeout.
func wait(ctx context.Context, t *task.Task, in Input) {
	limit := defaultWait
	if in.Timeout > 0 {
		limit = time.Duration(in.Timeout) * time.Millisecond
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// state returns a human-readable status of a task.
func state(t *task.Task) string {
	if ending := t.Ending(); ending != "" {
		return string(t.Status()) + " (" + ending + ")"
	}
	return string(t.Status())
}
