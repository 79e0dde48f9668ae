package tasks

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/domain/tasklist"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Ref is the input of TaskGet.
type Ref struct {
	readOnly
	TaskID string `json:"taskId"`
}

// Title returns a line for dialogs and logs.
func (in Ref) Title() string { return "Task " + tool.OneLine(in.TaskID, 20) }

// Activity returns the spinner text.
func (in Ref) Activity() string { return "Reading a task" }

// Whole is the structured result of TaskGet.
type Whole struct {
	Task WholeTask `json:"task"`
}

// A WholeTask is a task with all its details. BlockedBy lists only open tasks.
type WholeTask struct {
	ID          string          `json:"id"`
	Subject     string          `json:"subject"`
	Description string          `json:"description"`
	Status      tasklist.Status `json:"status"`
	Blocks      []string        `json:"blocks"`
	BlockedBy   []string        `json:"blockedBy"`
}

func (c *Config) get(ctx context.Context, in Ref, _ func(tool.Progress)) (tool.Result, error) {
	list, err := c.List()
	if err != nil {
		return tool.Result{}, err
	}
	t, err := list.Get(ctx, plainID(in.TaskID))
	if err != nil {
		return tool.Result{}, advise(err)
	}
	all, err := list.Tasks(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	waits := append([]string{}, tasklist.Waits(all, &t)...)
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s: %s\nStatus: %s\n", t.ID, t.Subject, t.Status)
	line := func(name string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
	}
	line("Owner", t.Owner)
	line("Blocked by", waits...)
	line("Blocks", t.Blocks...)
	b.WriteString("\n" + t.Description)
	r := tool.Text(msg.Neutralise(strings.TrimSpace(b.String())))
	r.Display = tool.Plain{Text: t.Subject}
	r.Structured = Whole{WholeTask{t.ID, t.Subject, t.Description, t.Status, t.Blocks, waits}}
	return r, nil
}

// None is the empty input of TaskList.
type None struct{ readOnly }

// Title returns a line for dialogs and logs.
func (None) Title() string { return "List tasks" }

// Activity returns the spinner text.
func (None) Activity() string { return "Listing tasks" }

// A Listing is the structured result of TaskList.
type Listing struct {
	Tasks []ListedTask `json:"tasks"`
}

// A ListedTask is an entry of a listing. BlockedBy lists only open tasks.
type ListedTask struct {
	ID        string          `json:"id"`
	Subject   string          `json:"subject"`
	Status    tasklist.Status `json:"status"`
	Owner     string          `json:"owner,omitempty"`
	BlockedBy []string        `json:"blockedBy"`
}

func (c *Config) list(ctx context.Context, _ None, _ func(tool.Progress)) (tool.Result, error) {
	list, err := c.List()
	if err != nil {
		return tool.Result{}, err
	}
	all, err := list.Tasks(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	listing, lines := Listing{Tasks: []ListedTask{}}, []string(nil)
	for _, t := range tasklist.Visible(all) {
		listing.Tasks = append(listing.Tasks, ListedTask{t.ID, t.Subject, t.Status, t.Owner, append([]string{}, tasklist.Waits(all, &t)...)})
		lines = append(lines, tasklist.Line(all, &t))
	}
	if len(lines) == 0 {
		lines = []string{"The task list is empty."}
	}
	r := tool.Text(strings.Join(lines, "\n"))
	r.Structured, r.Display = listing, Checklist(all)
	return r, nil
}

// plainID normalizes an ID: models also write #3.
func plainID(id string) string { return strings.TrimPrefix(strings.TrimSpace(id), "#") }
