// Package workflow implements the tool that starts workflows.
package workflow

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "Workflow"

var (
	//go:embed workflow.md
	doc string
	//go:embed workflow.zh.md
	chinese string
	//go:embed workflow.schema.json
	inputSchema string
	//go:embed workflow.output.json
	outputSchema string
)

// Input is the tool's input.
type Input struct {
	Name    string            `json:"name"`
	Inputs  map[string]string `json:"inputs,omitempty"`
	Restart bool              `json:"restart,omitempty"`
}

// Output is the structured result.
type Output struct {
	TaskID     string `json:"backgroundTaskId"`
	Workflow   string `json:"workflow"`
	OutputFile string `json:"outputFile,omitempty"`
}

// A Listed is a workflow described to the model.
type Listed struct {
	Name, About string
	Inputs      []string
}

// Config configures the tool.
type Config struct {
	// List holds the workflows described to the model at the start of the conversation.
	List []Listed
	// Start starts a workflow in the background.
	Start func(ctx context.Context, in Input) (*task.Task, error)
	// Enabled returns an error if the tool is not offered.
	Enabled func() error
}

// Limits on the list of workflows.
const (
	maxListed = 40
	maxAbout  = 200 // characters per description
)

// New returns the tool.
func New(c Config) tool.Tool {
	list := c.list()
	return tool.NewBound(tool.Def{
		Name: Name, Doc: strings.TrimSpace(doc) + list, Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core: true, MainOnly: true,
			Params: tool.Params{Texts: []string{"name", "inputs"}},
			Hint:   "run a workflow of several agents", Enabled: c.Enabled, Late: true,
			Output: json.RawMessage(strings.TrimSpace(outputSchema)),
			Translate: func(l texts.Language) map[string]string {
				all := tool.InChinese(chinese)(l)
				if all["doc"] != "" {
					all["doc"] = strings.TrimSpace(all["doc"]) + list
				}
				return all
			},
		},
	}, func(in Input) (tool.Call, error) {
		if tool.OneLine(in.Name, 60) == "" {
			return nil, errors.New("name is blank: give the name of a workflow")
		}
		return &call{config: &c, in: in}, nil
	})
}

// list returns the list of workflows for the model.
func (c *Config) list() string {
	var b strings.Builder
	for i, w := range c.List {
		if i == maxListed {
			fmt.Fprintf(&b, "\n- and %d more", len(c.List)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s", w.Name)
		if len(w.Inputs) > 0 {
			fmt.Fprintf(&b, " (inputs: %s)", strings.Join(w.Inputs, ", "))
		}
		if w.About != "" {
			fmt.Fprintf(&b, ": %s", tool.OneLine(w.About, maxAbout))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nWorkflows:" + b.String()
}

// A call starts a workflow.
type call struct {
	config *Config
	in     Input
}

// Input returns the input.
func (c *call) Input() any { return c.in }

// Title returns the name of the workflow.
func (c *call) Title() string { return tool.OneLine(c.in.Name, 60) }

// Activity returns the spinner text.
func (c *call) Activity() string { return "Starting the workflow " + c.Title() }

// Access returns nil: the calls of the workflow's agents are checked individually.
func (c *call) Access() []tool.Access { return nil }

// Match compares the name with a rule.
func (c *call) Match(content string) (bool, error) {
	content = strings.TrimSpace(content)
	return content == "*" || content == c.in.Name, nil
}

// Rules returns the rule for the workflow.
func (c *call) Rules() []string { return []string{c.in.Name} }

// Run starts the workflow.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	t, err := c.config.Start(ctx, c.in)
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Text(fmt.Sprintf("The workflow %s runs in the background as task %s. You will be notified when it ends: do not wait or poll. Its progress is in %s.", c.in.Name, t.ID, t.Output.Path()))
	r.Structured = Output{TaskID: t.ID, Workflow: c.in.Name, OutputFile: t.Output.Path()}
	r.Display = tool.Plain{Text: "running in the background as " + t.ID}
	return r, nil
}
