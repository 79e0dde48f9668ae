package streamjson

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
)

// TestTasks checks the lines for a task that starts, makes progress, moves to the background
// and ends, and the list of background tasks whenever it changes.
//
// Proves TASK-03.
func TestTasks(t *testing.T) {
	p, out := newPrinter(nil)
	scout := session.Task{ID: "a1", Title: "look around", Use: "toolu_1", Type: "scout", Depth: 2, Parent: "a0", Status: task.Running, Prompt: "Look."}
	p.Task(scout)
	scout.News, scout.Prompt, scout.Tool, scout.Summary = session.TaskWorks, "", "Read", "Reading the tests"
	scout.Used = session.TaskUse{Tokens: 1234, Calls: 2, Took: 1500 * time.Millisecond}
	p.Task(scout)
	scout.News, scout.Background = session.TaskMoved, true
	p.Task(scout)
	shell := session.Task{ID: "b1", Title: "make", Use: "toolu_2", News: session.TaskMoved, Status: task.Running, Background: true}
	p.Task(shell)
	scout.News, scout.Status, scout.Summary, scout.OutputFile = session.TaskEnded, task.Completed, "Sub-agent \"look around\" completed", "/t/a1.output"
	p.Task(scout)
	shell.News, shell.Status = session.TaskEnded, task.Killed
	p.Task(shell)
	p.Task(session.Task{ID: "d1", Title: "Consolidate memory", Type: "dream", Depth: 1, Status: task.Running, Chore: true})
	want := []string{
		`"task_started","task_id":"a1","tool_use_id":"toolu_1","description":"look around","subagent_type":"scout","is_backgrounded":false,"spawn_depth":2,"parent_task_id":"a0","task_type":"local_agent","prompt":"Look."`,
		`"task_progress","task_id":"a1","tool_use_id":"toolu_1","description":"look around","subagent_type":"scout","usage":{"total_tokens":1234,"tool_uses":2,"duration_ms":1500},"last_tool_name":"Read","summary":"Reading the tests"`,
		`"task_updated","task_id":"a1","patch":{"is_backgrounded":true}`,
		`"background_tasks_changed","tasks":[{"task_id":"a1","task_type":"local_agent","subagent_type":"scout","description":"look around","parent_task_id":"a0"}]`,
		`"task_started","task_id":"b1","tool_use_id":"toolu_2","description":"make","is_backgrounded":true,"task_type":"local_bash"`,
		`"background_tasks_changed","tasks":[{"task_id":"a1","task_type":"local_agent","subagent_type":"scout","description":"look around","parent_task_id":"a0"},{"task_id":"b1","task_type":"local_bash","description":"make"}]`,
		`"task_updated","task_id":"a1","patch":{"status":"completed","end_time":1772625600000}`,
		`"task_notification","task_id":"a1","tool_use_id":"toolu_1","status":"completed","output_file":"/t/a1.output","summary":"Sub-agent \"look around\" completed","usage":{"total_tokens":1234,"tool_uses":2,"duration_ms":1500}`,
		`"background_tasks_changed","tasks":[{"task_id":"b1","task_type":"local_bash","description":"make"}]`,
		`"task_updated","task_id":"b1","patch":{"status":"killed","end_time":1772625600000}`,
		`"task_notification","task_id":"b1","tool_use_id":"toolu_2","status":"stopped","output_file":"","summary":"","usage":{"total_tokens":0,"tool_uses":0,"duration_ms":0}`,
		`"background_tasks_changed","tasks":[]`,
		`"task_started","task_id":"d1","description":"Consolidate memory","subagent_type":"dream","is_backgrounded":false,"spawn_depth":1,"task_type":"dream","skip_transcript":true,"ambient":true`,
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		line = strings.TrimPrefix(line, `{"type":"system","subtype":`)
		line, _, _ = strings.Cut(line, `,"session_id":"s"`)
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// TestOnlyCalls checks that a client can receive only calls and results of sub-agents, with the
// IDs of their entries.
func TestOnlyCalls(t *testing.T) {
	p, out := newPrinter(nil)
	p.OnlyCalls(true)
	scout := session.SubagentEvent{ID: "a1", Type: "scout", Use: "toolu_1"}
	for _, ev := range []agent.Event{
		appended("e1", msg.User, &msg.Text{Text: "Look."}),
		appended("e2", msg.Assistant, &msg.Text{Text: "I look."}, msg.NewToolUse("toolu_2", "Read", `{}`)),
		appended("e3", msg.User, &msg.ToolResult{ID: "toolu_2", Parts: []msg.Part{&msg.Text{Text: "found"}}}),
		appended("e4", msg.Assistant, &msg.Text{Text: "Found."}),
	} {
		scout.Event = ev
		p.Beside(scout)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"tool_use"`) || !strings.HasSuffix(lines[0], `"uuid":"e2"}`) || !strings.Contains(lines[1], `"tool_result"`) || strings.Contains(out.String(), "I look") {
		t.Errorf("printed:\n%s", out)
	}
}
