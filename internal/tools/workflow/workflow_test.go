package workflow

import (
	"context"
	"strings"
	"testing"

	"adze/internal/platform/proc/task"
	"adze/internal/tool/tooltest"
)

func TestContract(t *testing.T) {
	tasks := task.New(t.TempDir(), nil)
	tl := New(Config{
		List: []Listed{{Name: "review", About: "Review\na change", Inputs: []string{"change", "by"}}, {Name: "tidy"}},
		Start: func(ctx context.Context, in Input) (*task.Task, error) {
			x, err := tasks.Begin(ctx, task.Workflow, in.Name, "")
			if err == nil {
				x.End(task.Completed, "")
			}
			return x, err
		},
	})
	tooltest.Run(t, tl, tooltest.Cases{
		Good:  map[string]string{"inputs": `{"name":"review","inputs":{"change":"x","by":"y"}}`, "restart": `{"name":"tidy","restart":true}`},
		Input: Input{},
	})
	if doc := tl.Spec().Description; !strings.HasSuffix(doc, "\n\nWorkflows:\n- review (inputs: change, by): Review a change\n- tidy") {
		t.Errorf("the model receives %q", doc)
	}
}
