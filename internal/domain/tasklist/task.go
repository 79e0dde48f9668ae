// Package tasklist stores task lists: tasks with their owners and dependencies. A list is a
// directory with a file for each task, which any number of processes may change concurrently.
// Background processes are managed by package task.
package tasklist

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Status is the progress of a task.
type Status string

// Task states.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Statuses returns all states, in the order a task goes through them.
func Statuses() []Status { return []Status{Pending, InProgress, Completed} }

// A Task is an entry in a list.
type Task struct {
	ID          string `json:"id"` // an integer; later tasks have larger ids
	Subject     string `json:"subject"`
	Description string `json:"description"`
	// ActiveForm describes the task while it is in progress, such as "Running tests"; it may be
	// empty.
	ActiveForm string `json:"activeForm,omitempty"`
	Status     Status `json:"status"`
	Owner      string `json:"owner,omitempty"`
	// Blocks and BlockedBy are task ids. Blocks is derived from the others' BlockedBy.
	Blocks    []string                   `json:"blocks"`
	BlockedBy []string                   `json:"blockedBy"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

// Internal reports whether the task is for internal use by programs.
func (t *Task) Internal() bool { return string(t.Metadata["_internal"]) == "true" }

// Open reports whether the task is not completed.
func (t *Task) Open() bool { return t.Status != Completed }

// List and task limits.
const (
	MaxTasks   = 5_000
	maxSubject = 1_000   // characters
	maxFile    = 256_000 // bytes
)

// check returns an error if a task's content is invalid.
func (t *Task) check() error {
	switch {
	case strings.TrimSpace(t.Subject) == "":
		return errors.New("a task needs a subject")
	case utf8.RuneCountInString(t.Subject) > maxSubject:
		return fmt.Errorf("the subject is longer than %d characters; put details into the description", maxSubject)
	case !slices.Contains(Statuses(), t.Status):
		return fmt.Errorf("%q is not a status; there are pending, in_progress and completed", clip(string(t.Status)))
	}
	return nil
}

// clone returns a deep copy.
func (t *Task) clone() *Task {
	c := *t
	c.Blocks, c.BlockedBy, c.Metadata = slices.Clone(t.Blocks), slices.Clone(t.BlockedBy), maps.Clone(t.Metadata)
	return &c
}

// encode returns the task in its file format.
func (t *Task) encode() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return nil, err
	}
	if len(data) >= maxFile {
		return nil, fmt.Errorf("the task has %d bytes, which is more than %d; write long texts to a file and name that", len(data), maxFile)
	}
	return append(data, '\n'), nil
}

// decode decodes the file of task n.
func decode(n int, data []byte) (*Task, error) {
	var t Task
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("it is not a task: %w", err)
	}
	if t.ID != strconv.Itoa(n) {
		return nil, fmt.Errorf("it has the id %q", clip(t.ID))
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	for _, id := range t.BlockedBy {
		if number(id) == 0 {
			return nil, fmt.Errorf("it is blocked by %q, which is not an id", clip(id))
		}
	}
	return &t, nil
}

// number returns an id's number, or 0 if it is invalid.
func number(id string) int {
	const digits = 9
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || len(id) > digits || strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// clip shortens a text for an error message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
