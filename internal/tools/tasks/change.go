package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/domain/tasklist"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Draft is the input of TaskCreate.
type Draft struct {
	ownState
	Subject     string                     `json:"subject"`
	Description string                     `json:"description"`
	ActiveForm  string                     `json:"activeForm,omitempty"`
	Metadata    map[string]json.RawMessage `json:"metadata,omitempty"`
}

// Title returns a line for dialogs and logs.
func (in Draft) Title() string { return "+ " + tool.OneLine(in.Subject, 60) }

// Activity returns the spinner text.
func (in Draft) Activity() string { return "Adding a task" }

// Made is the structured result of TaskCreate.
type Made struct {
	Task MadeTask `json:"task"`
}

// A MadeTask is a created task.
type MadeTask struct {
	ID          string `json:"id"`
	Subject     string `json:"subject"`
	Description string `json:"description"`
}

func (c *Config) create(ctx context.Context, in Draft, _ func(tool.Progress)) (tool.Result, error) {
	list, err := c.List()
	if err != nil {
		return tool.Result{}, err
	}
	may := func(t tasklist.Task) error { return allowed(ctx, c.Create, t) }
	t, err := list.Create(ctx, tasklist.Draft{Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm, Metadata: in.Metadata}, may)
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Text(fmt.Sprintf("Task %s was added: %s", t.ID, tasklist.OneLine(t.Subject)))
	if all, err := list.Tasks(ctx); err == nil {
		r.Display = Checklist(all)
	}
	r.Structured = Made{MadeTask{t.ID, t.Subject, t.Description}}
	return r, nil
}

// allowed calls may, which may be nil.
func allowed(ctx context.Context, may func(context.Context, tasklist.Task) error, t tasklist.Task) error {
	if may == nil {
		return nil
	}
	return may(ctx, t)
}

// Change is the input of TaskUpdate.
type Change struct {
	ownState
	TaskID       string                     `json:"taskId"`
	Status       string                     `json:"status,omitempty"`
	Subject      *string                    `json:"subject,omitempty"`
	Description  *string                    `json:"description,omitempty"`
	ActiveForm   *string                    `json:"activeForm,omitempty"`
	AddBlocks    []string                   `json:"addBlocks,omitempty"`
	AddBlockedBy []string                   `json:"addBlockedBy,omitempty"`
	Owner        *string                    `json:"owner,omitempty"`
	Metadata     map[string]json.RawMessage `json:"metadata,omitempty"`
}

// deleted is the status that removes a task.
const deleted = "deleted"

// Title returns a line for dialogs and logs.
func (in Change) Title() string {
	title := "Task " + tool.OneLine(in.TaskID, 20)
	if in.Status != "" {
		title += ": " + strings.ReplaceAll(in.Status, "_", " ")
	}
	return title
}

// Activity returns the spinner text.
func (in Change) Activity() string { return "Updating a task" }

// change converts the input to a [tasklist.Change].
func (in *Change) change() tasklist.Change {
	ids := func(given []string) (ids []string) {
		for _, id := range given {
			ids = append(ids, plainID(id))
		}
		return ids
	}
	c := tasklist.Change{
		Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm, Owner: in.Owner, Metadata: in.Metadata,
		Blocks: ids(in.AddBlocks), BlockedBy: ids(in.AddBlockedBy),
	}
	if in.Status != "" {
		status := tasklist.Status(in.Status)
		c.Status = &status
	}
	return c
}

// Changed is the structured result of TaskUpdate.
type Changed struct {
	Success       bool          `json:"success"`
	TaskID        string        `json:"taskId"`
	UpdatedFields []string      `json:"updatedFields"`
	StatusChange  *StatusChange `json:"statusChange,omitempty"`
}

// StatusChange is a task's old and new status.
type StatusChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (c *Config) update(ctx context.Context, in Change, _ func(tool.Progress)) (tool.Result, error) {
	list, err := c.List()
	if err != nil {
		return tool.Result{}, err
	}
	id := plainID(in.TaskID)
	if in.Status == deleted {
		return c.remove(ctx, list, id)
	}
	if in.Status == string(tasklist.Completed) {
		t, err := list.Get(ctx, id)
		if err != nil {
			return tool.Result{}, advise(err)
		}
		if t.Open() {
			if err := allowed(ctx, c.Complete, t); err != nil {
				return tool.Result{}, err
			}
		}
	}
	change := in.change()
	change.By = c.Member
	was, is, err := list.Update(ctx, id, change)
	if err != nil {
		return tool.Result{}, advise(err)
	}
	all, err := list.Tasks(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return c.changed(was, is, all), nil
}

// changed returns the result of a change.
func (c *Config) changed(was, is tasklist.Task, all []tasklist.Task) tool.Result {
	out := Changed{Success: true, TaskID: is.ID, UpdatedFields: fields(&was, &is)}
	text := fmt.Sprintf("Task %s: %s", is.ID, strings.Join(out.UpdatedFields, ", "))
	if len(out.UpdatedFields) == 0 {
		text = fmt.Sprintf("Task %s was like that already.", is.ID)
	}
	var r tool.Result
	if was.Status != is.Status {
		out.StatusChange = &StatusChange{string(was.Status), string(is.Status)}
		text = fmt.Sprintf("Task %s is %s.", is.ID, is.Status)
		r.Display = Checklist(all)
	}
	if was.Open() && !is.Open() {
		text += next(all, &is)
		if reminder := c.unverified(all); reminder != "" {
			r.Reminders = []string{reminder}
		}
	}
	r.Parts, r.Structured = []msg.Part{&msg.Text{Text: text}}, out
	return r
}

// next names the tasks that can start when a task is completed.
func next(all []tasklist.Task, done *tasklist.Task) string {
	var free []string
	open, following := 0, ""
	for _, t := range tasklist.Visible(all) {
		if !t.Open() {
			continue
		}
		open++
		if len(tasklist.Waits(all, &t)) > 0 {
			continue
		}
		if slices.Contains(t.BlockedBy, done.ID) {
			free = append(free, t.ID)
		}
		if following == "" && t.Owner == "" {
			following = t.ID + " " + tasklist.OneLine(t.Subject)
		}
	}
	text := ""
	if len(free) > 0 {
		text = " It no longer blocks " + strings.Join(free, ", ") + "."
	}
	switch {
	case open == 0:
		return text + " No task is left."
	case following != "":
		return text + " Next: " + strings.TrimSuffix(following, ".") + "."
	}
	return text + " Call " + ListName + " for the next one."
}

// unverified returns the reminder to verify the work, if it is due.
func (c *Config) unverified(all []tasklist.Task) string {
	var subjects []string
	closed := 0
	for _, t := range tasklist.Visible(all) {
		subjects = append(subjects, t.Subject)
		if !t.Open() {
			closed++
		}
	}
	return tasklist.Unverified(c.language(), subjects, closed)
}

// fields returns the names of the fields that differ.
func fields(was, is *tasklist.Task) []string {
	names := []string{}
	add := func(differs bool, name string) {
		if differs {
			names = append(names, name)
		}
	}
	add(was.Subject != is.Subject, "subject")
	add(was.Description != is.Description, "description")
	add(was.ActiveForm != is.ActiveForm, "activeForm")
	add(was.Owner != is.Owner, "owner")
	add(was.Status != is.Status, "status")
	add(!slices.Equal(was.Blocks, is.Blocks), "blocks")
	add(!slices.Equal(was.BlockedBy, is.BlockedBy), "blockedBy")
	before, err := json.Marshal(was.Metadata)
	after, same := json.Marshal(is.Metadata)
	add(err != nil || same != nil || string(before) != string(after), "metadata")
	return names
}

// remove deletes a task.
func (c *Config) remove(ctx context.Context, list *tasklist.List, id string) (tool.Result, error) {
	was, err := list.Delete(ctx, id)
	if err != nil {
		return tool.Result{}, advise(err)
	}
	r := tool.Text(fmt.Sprintf("Task %s was deleted.", id))
	r.Display = tool.Plain{Text: "deleted"}
	r.Structured = Changed{Success: true, TaskID: id, UpdatedFields: []string{deleted}, StatusChange: &StatusChange{string(was.Status), deleted}}
	return r, nil
}

// advise adds advice to an error.
func advise(err error) error {
	if errors.Is(err, tasklist.ErrNotFound) {
		return fmt.Errorf("%w. %s shows the tasks", err, ListName)
	}
	return err
}
