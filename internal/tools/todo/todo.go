// Package todo implements TodoWrite, the tool with which the model keeps the to-do list of a
// conversation. Each call writes the whole list.
package todo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/domain/tasklist"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "TodoWrite"

var (
	//go:embed todo.md
	doc string
	//go:embed todo.zh.md
	chinese string
	//go:embed todo.schema.json
	inputSchema string
	//go:embed todo.output.json
	outputSchema string
)

// An Item is an entry of the list.
type Item struct {
	Content string          `json:"content"`
	Status  tasklist.Status `json:"status"`
	// ActiveForm describes the work while the item is in progress.
	ActiveForm string `json:"activeForm"`
}

// Input is the tool's input.
type Input struct {
	Todos []Item `json:"todos"`
}

// OpenWorld returns false: the call reaches nothing outside.
func (Input) OpenWorld() bool { return false }

// Access returns nil: the call accesses no user files.
func (Input) Access() []tool.Access { return nil }

// Planning returns true: the list may be used while planning.
func (Input) Planning() bool { return true }

// Title returns a line for dialogs and logs.
func (Input) Title() string { return "Update the to-do list" }

// Activity returns the spinner text.
func (in Input) Activity() string { return "Updating the to-do list" }

// Output is the structured result.
type Output struct {
	Old []Item `json:"oldTodos"`
	New []Item `json:"newTodos"`
}

// Config configures the tool.
type Config struct {
	// Replace replaces the list and returns the previous one.
	Replace func([]Item) []Item
	// Enabled returns an error if the tool is not available. A nil func means that it is.
	Enabled func() error
	// Language returns the language of reminders; nil means English.
	Language func() texts.Language
}

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.New(tool.Def{
		Name: Name, Doc: strings.TrimSpace(doc), Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core: true, Background: true,
			Params: tool.Params{Texts: []string{"todos/content", "todos/activeForm"}},
			Hint:   "keep a task list", Translate: tool.InChinese(chinese), Enabled: c.Enabled, Output: json.RawMessage(strings.TrimSpace(outputSchema)),
			Redisplay: redisplay,
		},
	}, c.write)
}

func (c *Config) write(_ context.Context, in Input, _ func(tool.Progress)) (tool.Result, error) {
	old := c.Replace(in.Todos)
	if old == nil {
		old = []Item{}
	}
	closed, before := 0, 0
	var subjects []string
	for _, item := range in.Todos {
		subjects = append(subjects, item.Content)
		if item.Status == tasklist.Completed {
			closed++
		}
	}
	for _, item := range old {
		if item.Status == tasklist.Completed {
			before++
		}
	}
	r := tool.Text(fmt.Sprintf("The to-do list was updated: %d of %d done.", closed, len(in.Todos)))
	r.Display, r.Structured = Checklist(in.Todos), Output{old, in.Todos}
	l := texts.English
	if c.Language != nil {
		l = c.Language()
	}
	if text := tasklist.Unverified(l, subjects, closed); text != "" && closed > before {
		r.Reminders = []string{text}
	}
	return r, nil
}

// redisplay returns the list of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	var out Output
	if json.Unmarshal(structured, &out) != nil {
		return nil
	}
	return Checklist(out.New)
}

// Checklist converts the list to a checklist for the user.
func Checklist(items []Item) tool.Checklist {
	list := tool.Checklist{}
	for _, item := range items {
		check := tool.Check{Text: item.Content}
		switch item.Status {
		case tasklist.Completed:
			check.State = tool.Done
		case tasklist.InProgress:
			check.State = tool.Doing
			if item.ActiveForm != "" {
				check.Text = item.ActiveForm
			}
		}
		list = append(list, check)
	}
	return list
}
