package taskoutput

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tool/tooltest"
)

func started(t *testing.T, table *task.Table) *task.Task {
	t.Helper()
	tk, err := table.Begin(t.Context(), task.Shell, "title", "make")
	if err != nil {
		t.Fatal(err)
	}
	if err := tk.ToBackground(); err != nil {
		t.Fatal(err)
	}
	return tk
}

func call(t *testing.T, table *task.Table, in Input) (string, error) {
	t.Helper()
	data, _ := json.Marshal(in) // ok: always marshals
	c, err := New(table).Bind(data)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Run(t.Context(), func(tool.Progress) {})
	return msg.PlainText(res.Parts), err
}

func TestContract(t *testing.T) {
	table := task.New(t.TempDir(), nil)
	tk := started(t, table)
	defer tk.End(task.Completed, "")
	tooltest.Run(t, New(table), tooltest.Cases{
		Input: Input{}, Dir: t.TempDir(),
		Good: map[string]string{"now": `{"task_id":"` + tk.ID + `"}`, "new": `{"task_id":"` + tk.ID + `","only_new":true}`},
		Slow: `{"task_id":"` + tk.ID + `","block":true,"timeout":600000}`,
	})
}

// Proves SHBG-05, TASK-04.
func TestOutput(t *testing.T) {
	table := task.New(t.TempDir(), nil)
	tk := started(t, table)
	io.WriteString(tk.Output, "one\n")
	steps := []struct {
		in   Input
		want string
	}{
		{Input{TaskRef: command.TaskRef{TaskID: tk.ID}, OnlyNew: true}, "Task " + tk.ID + ": running\none"},
		{Input{TaskRef: command.TaskRef{TaskID: tk.ID}, OnlyNew: true}, "Task " + tk.ID + ": running\n(no new output)"},
		{Input{TaskRef: command.TaskRef{TaskID: tk.ID}}, "Task " + tk.ID + ": running\none"},
	}
	for _, s := range steps {
		if got, err := call(t, table, s.in); got != s.want || err != nil {
			t.Errorf("%+v: %q, %v", s.in, got, err)
		}
	}
	io.WriteString(tk.Output, "two\n")
	tk.End(task.Failed, "exit code 2")
	if got, err := call(t, table, Input{TaskRef: command.TaskRef{TaskID: tk.ID}, OnlyNew: true}); got != "Task "+tk.ID+": failed (exit code 2)\ntwo" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := call(t, table, Input{TaskRef: command.TaskRef{TaskID: tk.ID}, OnlyNew: true}); err == nil || !strings.Contains(err.Error(), "failed (exit code 2)") {
		t.Errorf("read to the end: %v", err)
	}
	if _, err := call(t, table, Input{TaskRef: command.TaskRef{TaskID: "b0"}}); err == nil || !strings.Contains(err.Error(), tk.ID) {
		t.Errorf("unknown: %v", err)
	}
}

// Proves SHBG-05, TASK-04.
func TestWaiting(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		table := task.New(dir, nil)
		tk := started(t, table)
		start := time.Now()
		if _, err := call(t, table, Input{TaskRef: command.TaskRef{TaskID: tk.ID}, Block: true, Timeout: 600_000}); err != nil || time.Since(start) != 10*time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		start = time.Now()
		time.AfterFunc(5*time.Second, func() { tk.End(task.Completed, "exit code 0") })
		if got, err := call(t, table, Input{TaskRef: command.TaskRef{TaskID: tk.ID}, Block: true}); err != nil || time.Since(start) != 5*time.Second || !strings.Contains(got, "completed") {
			t.Errorf("%q, %v after %v", got, err, time.Since(start))
		}
	})
	if _, err := New(task.New(dir, nil)).Bind(json.RawMessage(`{"task_id":"a","timeout":600001}`)); err == nil {
		t.Error("a wait of more than ten minutes is accepted")
	}
}
