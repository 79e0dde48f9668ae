package transcript

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/platform/proc/task"
	"adze/internal/session"
)

// TestTaskEnded checks that a finished background task is shown like a call, with the end of
// its output if it failed.
func TestTaskEnded(t *testing.T) {
	table := task.New(t.TempDir(), nil)
	defer table.Close()
	s := newStage(t, 60, 20, Config{})
	for _, status := range []task.Status{task.Completed, task.Failed} {
		k, err := table.Begin(t.Context(), task.Shell, "make \x1b[2Jall", "make all")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			fmt.Fprintf(k.Output, "line %d\n", i)
		}
		k.End(status, "exit code "+map[task.Status]string{task.Completed: "0", task.Failed: "2"}[status])
		s.TaskEnded(k)
	}
	got := s.text()
	for _, want := range []string{", make all: completed, exit code 0\n✗ Task b", ": failed, exit code 2\n  ⋯ 20 earlier lines ∙ Ctrl+O all\n  line 20\n", "\n  line 59\n---"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	a := s.All(60)
	if n := a.Len(); n != 2+60+60 {
		t.Errorf("%d rows", n)
	}
}

// TestCrew checks that sub-agents are shown below their parents, and no more than fit.
func TestCrew(t *testing.T) {
	s := newStage(t, 60, 24, Config{})
	for i := range 9 {
		k := session.Task{ID: fmt.Sprint(i), Type: "scout", Title: fmt.Sprint("task ", i)}
		if i == 3 {
			k.Parent = "0"
		}
		s.entry(k)
	}
	want := "--- live\n▸ 9 agents\n  ├ task 0    scout\n    ├ task 3  scout\n  ├ task 1    scout\n  ├ task 2    scout\n  ├ task 4    scout\n  ├ task 5    scout\n  ⋯ 3 more\n"
	if got := s.text(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	s = newStage(t, 70, 24, Config{})
	s.entry(session.Task{ID: "1", Type: "Explore", Title: "Find the functions", Doing: "Grep func", Used: session.TaskUse{Tokens: 3000, CostUSD: 0.01}})
	s.entry(session.Task{ID: "2", Title: "npm run dev", Background: true})
	want = "--- live\n" +
		"▸ 1 agent, 1 task                                   3k tokens ∙ $0.01\n" +
		"  ├ Find the functions  Explore  Grep func          3k tokens ∙ $0.01\n" +
		"  └ npm run dev                                            background\n"
	if got := s.text(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
