// Package agents implements adze agents: it lists and shows agents, and creates, edits and
// removes user and project agents.
package agents

import (
	"context"

	"adze/internal/app/cli/actions"
	"adze/internal/app/cli/flags"
	"adze/internal/commands"
	"adze/internal/commands/extensions"
	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents"
	"adze/internal/platform/fs/scope"
	"adze/internal/setup"
	"adze/internal/ui/console"
	"adze/internal/ui/draw"
)

// Actions returns the actions of adze agents.
func Actions() actions.Table[*Task] {
	return actions.Table[*Task]{
		{Name: "list", Doc: "list the agents with their source and problems", Run: list},
		{Name: "show", Args: "NAME", Doc: "show an agent and its prompt", Least: 1, Most: 1, Run: show},
		{Name: "create", Args: "NAME", Doc: "create an agent file; --description says when to use it", Least: 1, Most: 1, Run: create},
		{Name: "edit", Args: "NAME", Doc: "open the file of an agent in your editor", Least: 1, Most: 1, Run: edit},
		{Name: "rm", Args: "NAME", Doc: "remove the file of an agent; asks first, unless --yes is given", Least: 1, Most: 1, Run: remove},
	}
}

// Options are the flags of the actions.
type Options struct {
	Description, Prompt, Tools, Model, Scope string
	JSON, Yes                                bool
}

// Flags returns the flags.
func (o *Options) Flags() []flags.Flag {
	return []flags.Flag{
		{Name: "description", Short: "d", Value: "TEXT", Doc: "with create, when to use the agent; the model chooses by it", Set: flags.SetText(&o.Description)},
		{Name: "prompt", Value: "TEXT", Doc: "with create, the agent's system prompt", Set: flags.SetText(&o.Prompt)},
		{Name: "tools", Value: "LIST", Doc: "with create, the tools of the agent; without it, all", Set: flags.SetText(&o.Tools)},
		{Name: "model", Value: "NAME", Doc: "with create, its model; without it, that of the conversation", Set: flags.SetText(&o.Model)},
		{Name: "scope", Short: "s", Value: "SCOPE", Choices: []string{"project", "user"}, Doc: "with create, project (the default) or user, for all projects", Set: flags.SetText(&o.Scope)},
		{Name: "yes", Short: "y", Doc: "with rm, do not ask first", Set: flags.SetBool(&o.Yes)},
		{Name: "json", Doc: "with list and show, print JSON", Set: flags.SetBool(&o.JSON)},
	}
}

// Explanation is the help text on agents.
const Explanation = `  adze agents create reviewer --description "reviews changes for bugs" --tools Read,Grep,Glob
  adze --agent reviewer

An agent is a prompt with a set of tools, in a Markdown file: .adze/agents/NAME.md in the project, or agents/NAME.md in
the configuration directory. The model launches agents for parts of its work; --agent has one hold the conversation.
`

// A Task is one action, with its arguments.
type Task struct {
	agents.Files
	*console.Console
	*Options
	Args []string
	// Edit opens a file in the user's editor.
	Edit func(path string) error
}

// Run runs an action.
func (t *Task) Run(ctx context.Context, a *actions.Action[*Task]) error {
	if err := a.Check("agents", len(t.Args)); err != nil {
		return err
	}
	return a.Run(ctx, t)
}

// agentOutput is an agent in JSON output.
type agentOutput struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Source      string   `json:"source"`
	Path        string   `json:"path,omitempty"`
	Model       string   `json:"model,omitempty"`
	Tools       []string `json:"tools"` // null means all
	Disallowed  []string `json:"disallowedTools,omitempty"`
	Mode        string   `json:"permissionMode,omitempty"`
	Prompt      *string  `json:"prompt,omitempty"`
}

func describe(d *agentdef.Definition) agentOutput {
	return agentOutput{
		Name: d.Name, Description: d.Description, Source: d.Source.String(), Path: d.File, Model: d.Model,
		Tools: d.Tools, Disallowed: d.Disallowed, Mode: d.Mode,
	}
}

func list(_ context.Context, t *Task) error {
	set := t.Library.Set()
	if !t.JSON {
		return t.page(extensions.AgentsPage(set))
	}
	all := []agentOutput{}
	for _, d := range set.Definitions {
		all = append(all, describe(d))
	}
	return t.PrintJSON(map[string]any{"agents": all, "problems": append([]string{}, set.Report()...)})
}

func show(_ context.Context, t *Task) error {
	set := t.Library.Set()
	d := set.Get(t.Args[0])
	if d == nil {
		return setup.Errorf("%v", set.Unknown(t.Args[0]))
	}
	if t.JSON {
		shown := describe(d)
		shown.Prompt = &d.Prompt
		return t.PrintJSON(shown)
	}
	if err := t.page(extensions.AgentPage(d)); err != nil || d.Prompt == "" {
		return err
	}
	return t.Show("\n" + d.Prompt + "\n")
}

func (t *Task) page(p commands.Page) error {
	return t.Show(draw.Palette{}.Text(draw.Page(p, draw.Options{})) + "\n")
}

func create(ctx context.Context, t *Task) error {
	to := scope.Project
	if t.Scope == "user" {
		to = scope.User
	}
	d := &agentdef.Definition{Name: t.Args[0], Description: t.Description, Prompt: t.Prompt, Model: t.Model}
	if t.Tools != "" {
		d.Tools = []string{t.Tools}
	}
	path, err := t.Create(ctx, to, d)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	return t.Show("Created " + path + "\n")
}

func edit(_ context.Context, t *Task) error {
	path, err := t.File(t.Args[0])
	if err != nil {
		return setup.Errorf("%v", err)
	}
	return t.Edit(path)
}

func remove(_ context.Context, t *Task) error {
	path, err := t.File(t.Args[0])
	if err != nil {
		return setup.Errorf("%v", err)
	}
	if !t.Yes {
		if !t.StdinTerminal {
			return setup.Errorf("confirmation needs a terminal; use --yes to remove %s", path)
		}
		if yes, err := t.Confirm("Remove " + path + "?"); err != nil || !yes {
			return err
		}
	}
	if path, err = t.Remove(t.Args[0]); err != nil {
		return err
	}
	return t.Show("Removed " + path + "\n")
}
