package taskstop

import (
	"encoding/json"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// started returns a task that ends when stopped.
func started(t *testing.T, table *task.Table) *task.Task {
	t.Helper()
	tk, err := table.Begin(t.Context(), task.Shell, "title", "make")
	if err != nil {
		t.Fatal(err)
	}
	if err := tk.ToBackground(); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-tk.Context().Done()
		tk.End(task.Failed, "signal")
	}()
	return tk
}

func TestContract(t *testing.T) {
	table := task.New(t.TempDir(), nil)
	tooltest.Run(t, New(table), tooltest.Cases{
		Input: Input{}, Dir: t.TempDir(),
		Good: map[string]string{"running": `{"task_id":"` + started(t, table).ID + `"}`},
	})
}

// Proves SHBG-05, TASK-04.
func TestStop(t *testing.T) {
	table := task.New(t.TempDir(), nil)
	tk := started(t, table)
	stop := func(id string) (string, error) {
		c, err := New(table).Bind(json.RawMessage(`{"task_id":"` + id + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Run(t.Context(), func(tool.Progress) {})
		return msg.PlainText(res.Parts), err
	}
	if got, err := stop(tk.ID); err != nil || !strings.Contains(got, "(title) was stopped") || tk.Status() != task.Killed {
		t.Errorf("%q, %v, status %s", got, err, tk.Status())
	}
	if _, err := stop(tk.ID); err == nil || !strings.Contains(err.Error(), "already ended: killed (signal)") {
		t.Errorf("again: %v", err)
	}
	if _, err := stop("b0"); err == nil || !strings.Contains(err.Error(), "no task") {
		t.Errorf("unknown: %v", err)
	}
}
