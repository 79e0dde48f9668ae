// Package tasks holds the tools with which the model keeps a task list: TaskCreate, TaskGet, TaskUpdate and TaskList. Where
// the list is, and how processes share it, is known to package tasklist; that hooks may object, to the caller.
package tasks

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"adze/internal/platform/texts"
	"adze/internal/tasklist"
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

// A Config is what the tools need. List is required.
type Config struct {
	// List returns the list that is used now.
	List func() (*tasklist.List, error)
	// Enabled reports why the tools cannot be offered, or nil. A nil func means that they can.
	Enabled func() error
	// Member is the teammate that has the tools; empty for the lead of a team, and without one.
	Member string
	// Create and Complete are asked before a task is made or completed. Their error is shown to the model. They may be nil.
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
			Params: tool.Params{Texts: []string{"taskId", "subject", "description", "activeForm", "addBlocks", "addBlockedBy", "owner"}},
			Hint:   hint, Translate: tool.InChinese(chinese), Enabled: c.Enabled, Output: json.RawMessage(strings.TrimSpace(output)),
		},
	}
}

// own says of a call that it touches nothing but lists of the program's own.
type own struct{}

// OpenWorld says that nothing outside is reached.
func (own) OpenWorld() bool { return false }

// Access says that no file of the user is touched.
func (own) Access() []tool.Access { return nil }

// Planning says that a plan may come with a list.
func (own) Planning() bool { return true }

// reads says of a call that it changes nothing.
type reads struct{ own }

// ReadOnly says that nothing is changed.
func (reads) ReadOnly() bool { return true }

// Concurrent says that reading disturbs no other call.
func (reads) Concurrent() bool { return true }

// Checklist returns tasks as the user sees them.
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
