// Package workflows runs workflows for a conversation: it finds their files, runs them in the
// background with sub-agents, stores step results, and provides the tool and the commands.
package workflows

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/workflow"
	"adze/internal/feature"
	"adze/internal/feature/agents"
	"adze/internal/platform/proc/task"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tool/schema/draft"
	workflowtool "adze/internal/tools/workflow"
)

// Config configures a conversation's workflows.
type Config struct {
	Project *settings.Project
	// Launch runs an agent and waits for it.
	Launch func(ctx context.Context, r agents.Request, report func(tool.Progress)) (*agents.Outcome, error)
	// Tasks is the task table; nil if background tasks are off.
	Tasks *task.Table
	// Folder returns the session directory; "" stores nothing.
	Folder func() string
	// Waits makes the command wait for the end of a run, because the process exits with it.
	Waits bool
}

// Workflows manages a conversation's workflows. Nil has none. It is safe for concurrent use.
type Workflows struct {
	cfg Config

	mu      sync.Mutex
	running map[string]string // running tasks, by run key
	schemas map[string]*draft.Schema
}

// New returns a conversation's workflows. Nothing is read yet.
func New(c Config) *Workflows {
	return &Workflows{cfg: c, running: map[string]string{}, schemas: map[string]*draft.Schema{}}
}

// Part returns the workflows' contribution to a conversation.
func (ws *Workflows) Part() feature.Part {
	return feature.Part{Name: "workflows", Tools: ws.Tools(), Commands: ws.Sections()}
}

// Tools returns the tool, or none without workflows, so that only users of workflows pay for
// its description.
func (ws *Workflows) Tools() []tool.Tool {
	if ws == nil || ws.cfg.Tasks == nil {
		return nil
	}
	set := Find(ws.cfg.Project)
	if len(set.All) == 0 {
		return nil
	}
	c := workflowtool.Config{Start: ws.Start, Enabled: func() error { return command.NoTasks(ws.cfg.Tasks) }}
	for _, w := range set.All {
		c.List = append(c.List, workflowtool.Listed{Name: w.Name, About: w.Description, Inputs: w.Inputs})
	}
	return []tool.Tool{workflowtool.New(c)}
}

// Start starts a workflow in the background, or continues this session's unfinished run with
// the same inputs.
func (ws *Workflows) Start(ctx context.Context, in workflowtool.Input) (*task.Task, error) {
	r, err := ws.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := r.task.ToBackground(); err != nil {
		r.close()
		r.task.End(task.Failed, "it did not begin")
		return nil, err
	}
	go r.work()
	return r.task, nil
}

// begin creates the run of a workflow, in the foreground.
func (ws *Workflows) begin(ctx context.Context, in workflowtool.Input) (*run, error) {
	if err := command.NoTasks(ws.cfg.Tasks); err != nil {
		return nil, err
	}
	set := Find(ws.cfg.Project)
	w := set.get(in.Name)
	if w == nil {
		return nil, set.unknown(in.Name)
	}
	if err := complete(w.Workflow, in.Inputs); err != nil {
		return nil, err
	}
	key, err := keyOf(w.Workflow, in.Inputs)
	if err != nil {
		return nil, err
	}
	t, err := ws.cfg.Tasks.Begin(ctx, task.Workflow, w.Name, "")
	if err != nil {
		return nil, err
	}
	task.RunsFor(t, tool.UseOf(ctx))
	r := &run{owner: ws, task: t, key: key}
	if err := r.open(w.Workflow, in); err != nil {
		t.End(task.Failed, "it did not begin")
		return nil, err
	}
	return r, nil
}

// complete reports missing and unknown inputs.
func complete(w *workflow.Workflow, inputs map[string]string) error {
	for _, name := range w.Inputs {
		if _, ok := inputs[name]; !ok {
			return fmt.Errorf("the workflow %s needs the input %q; its inputs are %s", w.Name, name, strings.Join(w.Inputs, ", "))
		}
	}
	for name := range inputs {
		if slices.Contains(w.Inputs, name) {
			continue
		}
		if len(w.Inputs) == 0 {
			return fmt.Errorf("the workflow %s has no inputs", w.Name)
		}
		return fmt.Errorf("the workflow %s has no input %q; its inputs are %s", w.Name, tool.OneLine(name, 60), strings.Join(w.Inputs, ", "))
	}
	return nil
}
