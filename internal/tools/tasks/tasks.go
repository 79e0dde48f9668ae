// Package tasks implements the task list tools: TaskCreate, TaskGet, TaskUpdate and TaskList.
package tasks

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"adze/internal/domain/tasklist"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// The names of the tools.
const (
	CreateName = "TaskCreate"
	GetName    = "TaskGet"
	UpdateName = "TaskUpdate"
	ListName   = "TaskList"
)

var (
	//go:embed create.md
	createDoc string
	//go:embed create.zh.md
	createChinese string
	//go:embed create.schema.json
	createSchema string
	//go:embed create.output.json
	createOutput string
	//go:embed get.md
	getDoc string
	//go:embed get.zh.md
	getChinese string
	//go:embed get.schema.json
	getSchema string
	//go:embed get.output.json
	getOutput string
	//go:embed update.md
	updateDoc string
	//go:embed update.zh.md
	updateChinese string
	//go:embed update.schema.json
	updateSchema string
	//go:embed update.output.json
	updateOutput string
	//go:embed list.md
	listDoc string
	//go:embed list.zh.md
	listChinese string
	//go:embed list.output.json
	listOutput string
)

// Config configures the tools. List is required.
type Config struct {
	// List returns the current list.
	List func() (*tasklist.List, error)
	// Enabled returns an error if the tools are not available. A nil func means that they are.
	Enabled func() error
	// Member is the teammate that uses the tools; empty for the lead of a team, and without a
	// team.
	Member string
	// Create and Complete, if not nil, are called before a task is created or completed. An
	// error rejects the change and is shown to the model.
	Create, Complete func(context.Context, tasklist.Task) error
	// Language returns the language of reminders; nil means English.
	Language func() texts.Language
}

func (c *Config) language() texts.Language {
	if c.Language == nil {
		return texts.English
	}
	return c.Language()
}

// Tools returns the tools.
func Tools(c Config) []tool.Tool {
	return []tool.Tool{
		tool.New(c.def(CreateName, "add a task to the list", createDoc, createChinese, createSchema, createOutput), c.create),
		tool.New(c.def(GetName, "read one task of the list", getDoc, getChinese, getSchema, getOutput), c.get),
		tool.New(c.def(UpdateName, "change or complete a task of the list", updateDoc, updateChinese, updateSchema, updateOutput), c.update),
		tool.New(c.def(ListName, "show all tasks of the list", listDoc, listChinese, `{"type":"object","properties":{},"additionalProperties":false}`, listOutput), c.list),
	}
}

func (c *Config) def(name, hint, doc, chinese, schema, output string) tool.Def {
	return tool.Def{
		Name: name, Doc: strings.TrimSpace(doc), Schema: json.RawMessage(strings.TrimSpace(schema)),
		Traits: tool.Traits{
			Core: name == CreateName, Background: true,
			Params: tool.Params{Texts: []string{"taskId", "subject", "description", "activeForm", "addBlocks", "addBlockedBy", "owner"}},
			Hint:   hint, Translate: tool.InChinese(chinese), Enabled: c.Enabled, Output: json.RawMessage(strings.TrimSpace(output)),
		},
	}
}

// ownState is embedded in inputs of calls that access only the program's own lists.
type ownState struct{}

// OpenWorld returns false: the call reaches nothing outside.
func (ownState) OpenWorld() bool { return false }

// Access returns nil: the call accesses no user files.
func (ownState) Access() []tool.Access { return nil }

// Planning returns true: the list may be used while planning.
func (ownState) Planning() bool { return true }

// readOnly is embedded in inputs of calls that change nothing.
type readOnly struct{ ownState }

// ReadOnly returns true: the call changes nothing.
func (readOnly) ReadOnly() bool { return true }

// Concurrent returns true: reading does not affect other calls.
func (readOnly) Concurrent() bool { return true }

// Checklist converts tasks to a checklist for the user.
func Checklist(all []tasklist.Task) tool.Checklist {
	list := tool.Checklist{}
	for i := range all {
		t := &all[i]
		if t.Internal() {
			continue
		}
		check := tool.Check{Text: t.Subject, State: tool.ToDo, Note: t.Owner}
		switch t.Status {
		case tasklist.Completed:
			check.State = tool.Done
		case tasklist.InProgress:
			check.State = tool.Doing
			if t.ActiveForm != "" {
				check.Text = t.ActiveForm
			}
		case tasklist.Pending:
			if open := tasklist.Waits(all, t); len(open) > 0 {
				check.Note = strings.TrimPrefix(check.Note+", waits for "+strings.Join(open, ", "), ", ")
			}
		}
		check.Text = t.ID + " " + check.Text
		list = append(list, check)
	}
	return list
}
