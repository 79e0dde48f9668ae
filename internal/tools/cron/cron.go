// Package cron implements the tools that create, list and delete scheduled prompts.
package cron

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/domain/cron"
	"adze/internal/msg"
	"adze/internal/tool"
)

var (
	//go:embed create.md
	createDoc string
	//go:embed create.zh.md
	createChinese string
	//go:embed create.schema.json
	createSchema string
	//go:embed delete.md
	deleteDoc string
	//go:embed delete.zh.md
	deleteChinese string
	//go:embed delete.schema.json
	deleteSchema string
	//go:embed list.md
	listDoc string
	//go:embed list.zh.md
	listChinese string
)

// Jobs stores the scheduled prompts.
type Jobs interface {
	Add(ctx context.Context, d cron.Draft) (cron.Job, error)
	Remove(ctx context.Context, id string) (cron.Job, error)
	List(ctx context.Context) ([]cron.Job, error)
}

// Tools returns the tools for jobs.
func Tools(jobs Jobs) []tool.Tool { return []tool.Tool{create(jobs), remove(jobs), list(jobs)} }

// Draft is the input for creating a job.
type Draft struct {
	Cron      string `json:"cron"`
	Prompt    string `json:"prompt"`
	Recurring *bool  `json:"recurring,omitempty"`
	Durable   bool   `json:"durable,omitempty"`
}

func (in Draft) once() bool { return in.Recurring != nil && !*in.Recurring }

// Validate checks the cron expression and the length of the prompt.
func (in Draft) Validate() error {
	if len(in.Prompt) > cron.MaxPrompt {
		return fmt.Errorf("the prompt is longer than %d bytes", cron.MaxPrompt)
	}
	_, err := cron.ParseCron(in.Cron)
	return err
}

// OpenWorld returns false: creating a job reaches nothing outside.
func (in Draft) OpenWorld() bool { return false }

// Title returns a line for dialogs and logs.
func (in Draft) Title() string {
	when := in.Cron
	if in.once() {
		when = "once, " + when
	}
	return fmt.Sprintf("Schedule (%s): %s", when, tool.OneLine(in.Prompt, 80))
}

// Activity returns the spinner text.
func (in Draft) Activity() string { return "Scheduling a prompt" }

// Consent describes the effect of the user's approval.
func (in Draft) Consent() string {
	where := "while this session is open"
	if in.Durable {
		where = "also in later sessions in this directory"
	}
	return "Yes lets the prompt run later, when you may not be there: " + where + ". Its calls ask for permission like any other."
}

// Preview shows the complete prompt.
func (in Draft) Preview(context.Context) (tool.Display, error) {
	return tool.Plain{Text: in.Prompt}, nil
}

func create(jobs Jobs) tool.Tool {
	return tool.New(tool.Def{
		Name: "CronCreate", Doc: strings.TrimSpace(createDoc), Schema: json.RawMessage(strings.TrimSpace(createSchema)),
		Traits: tool.Traits{Translate: tool.InChinese(createChinese), Hint: "schedule a prompt to run later or repeatedly", Params: tool.Params{Texts: []string{"cron", "prompt"}}},
	}, func(ctx context.Context, in Draft, _ func(tool.Progress)) (tool.Result, error) {
		j, err := jobs.Add(ctx, cron.Draft{Prompt: in.Prompt, Cron: in.Cron, Once: in.once(), Durable: in.Durable, ByModel: true})
		if err != nil {
			return tool.Result{}, err
		}
		text := fmt.Sprintf("Scheduled job %s: it runs next on %s", j.ID, j.Fires().Format("2 January 2006 at 15:04"))
		if !j.Once {
			text += " and ends on " + j.Expires.Format("2 January 2006 at 15:04")
		}
		return tool.Text(text + "."), nil
	})
}

// A Ref identifies a job.
type Ref struct {
	ID string `json:"id"`
}

// OpenWorld returns false: the call reaches nothing outside.
func (in Ref) OpenWorld() bool { return false }

// Title returns a line for dialogs and logs.
func (in Ref) Title() string { return "End scheduled job " + tool.OneLine(in.ID, 40) }

// Activity returns the spinner text.
func (in Ref) Activity() string { return "Ending a scheduled job" }

func remove(jobs Jobs) tool.Tool {
	return tool.New(tool.Def{
		Name: "CronDelete", Doc: strings.TrimSpace(deleteDoc), Schema: json.RawMessage(strings.TrimSpace(deleteSchema)),
		Traits: tool.Traits{Translate: tool.InChinese(deleteChinese), Hint: "end a scheduled prompt", Params: tool.Params{Texts: []string{"id"}}},
	}, func(ctx context.Context, in Ref, _ func(tool.Progress)) (tool.Result, error) {
		j, err := jobs.Remove(ctx, in.ID)
		if err != nil {
			return tool.Result{}, fmt.Errorf("%w; CronList lists the jobs", err)
		}
		return tool.Text(fmt.Sprintf("Job %s has ended.", j.ID)), nil
	})
}

// None is the empty input for listing jobs.
type None struct{}

// OpenWorld returns false: the call reaches nothing outside.
func (None) OpenWorld() bool { return false }

// ReadOnly returns true: the call changes nothing.
func (None) ReadOnly() bool { return true }

// Concurrent returns true: listing does not affect other calls.
func (None) Concurrent() bool { return true }

// Access returns nil: the call accesses only the jobs.
func (None) Access() []tool.Access { return nil }

// Title returns a line for dialogs and logs.
func (None) Title() string { return "List scheduled jobs" }

// Activity returns the spinner text.
func (None) Activity() string { return "Listing scheduled jobs" }

func list(jobs Jobs) tool.Tool {
	return tool.New(tool.Def{
		Name: "CronList", Doc: strings.TrimSpace(listDoc), Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Traits: tool.Traits{Translate: tool.InChinese(listChinese), Hint: "list the scheduled prompts"},
	}, func(ctx context.Context, _ None, _ func(tool.Progress)) (tool.Result, error) {
		all, err := jobs.List(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if len(all) == 0 {
			return tool.Text("No prompt is scheduled."), nil
		}
		var b strings.Builder
		for _, j := range all {
			fmt.Fprintf(&b, "%s (%s", j.ID, j.When())
			switch {
			case j.Flaw != "":
				fmt.Fprintf(&b, "; cannot run: %s", j.Flaw)
			default:
				fmt.Fprintf(&b, "; next on %s", j.Fires().Format("2 January 2006 at 15:04"))
			}
			if j.Durable {
				b.WriteString("; durable")
			}
			fmt.Fprintf(&b, "): %s\n", tool.OneLine(j.Prompt, 200))
		}
		return tool.Text(msg.Neutralise(strings.TrimSpace(b.String()))), nil
	})
}
