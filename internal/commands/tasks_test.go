package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/internal/platform/proc/task"
)

// TestTasksOfAgents checks that a nested agent is offered for stopping, and can be stopped by
// its ID or a prefix of it.
//
// Proves TASK-05, AGENT-40.
func TestTasksOfAgents(t *testing.T) {
	top, below := task.New(t.TempDir(), nil), task.New(t.TempDir(), nil)
	top.Join(below)
	var nested []*task.Task
	for range 2 {
		one, err := below.Begin(context.Background(), task.Agent, "two deep", "")
		if err != nil {
			t.Fatal(err)
		}
		nested = append(nested, one)
	}
	r := &Registry{Config: Config{Tasks: top}}
	r.Extensions.Agents.Working = func() []RunningAgent {
		return []RunningAgent{{ID: "alead", Title: "one deep"}, {ID: nested[0].ID, Parent: "alead", Title: "two deep"}}
	}
	page, _ := r.tasks("")
	if text := fmt.Sprint(page); !strings.Contains(text, "/tasks stop ID") || !strings.Contains(text, nested[0].ID) {
		t.Errorf("the list:\n%s", text)
	}
	if got := r.completeTasks(""); !slices.Contains(got, "stop "+nested[0].ID) || !slices.Contains(got, nested[0].ID) {
		t.Errorf("offered: %q", got)
	}
	if _, err := r.tasks("stop"); err == nil {
		t.Error("one was chosen without an id")
	}
	for i, id := range []string{nested[0].ID, nested[1].ID[:7]} {
		if _, err := r.tasks("stop " + id); err != nil || !nested[i].Stopped() {
			t.Errorf("stopping %s: %v", id, err)
		}
	}
	if _, err := r.tasks("stop a"); err == nil || !strings.Contains(err.Error(), "several tasks") {
		t.Errorf("an id of several: %v", err)
	}
}
