// Package team implements the tools with which the model leads a team and sends messages to
// other agents: TeamCreate, TeamDelete and SendMessage.
package team

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/tool"
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
	//go:embed delete.md
	deleteDoc string
	//go:embed delete.zh.md
	deleteChinese string
)

// Teams creates and ends the team of a conversation. Leads returns an error if the conversation
// cannot lead a team, and Led if it has no team to end.
type Teams interface {
	Leads() error
	Led() error
	Create(ctx context.Context, name, description string) (Created, error)
	Delete(ctx context.Context) (name string, err error)
}

// Created is the structured result of TeamCreate.
type Created struct {
	Name string `json:"team_name"`
	Lead string `json:"lead_name"`
	File string `json:"team_file_path"`
}

// Create returns the tool that creates a team.
func Create(teams Teams) tool.Tool {
	return tool.New(tool.Def{
		Name: "TeamCreate", Doc: strings.TrimSpace(createDoc), Schema: json.RawMessage(strings.TrimSpace(createSchema)),
		Traits: tool.Traits{
			Params:    tool.Params{Texts: []string{"team_name", "description"}},
			Translate: tool.InChinese(createChinese), Hint: "create a team of agents that work side by side", Late: true,
			Output: json.RawMessage(strings.TrimSpace(createOutput)), Enabled: teams.Leads,
		},
	}, func(ctx context.Context, in Draft, _ func(tool.Progress)) (tool.Result, error) {
		made, err := teams.Create(ctx, in.Name, in.Description)
		if err != nil {
			return tool.Result{}, err
		}
		text := fmt.Sprintf("Created the team %s; you are %s in it.", made.Name, made.Lead)
		if made.Name != in.Name {
			text = fmt.Sprintf("Created the team under the name %s: use this one. You are %s in it.", made.Name, made.Lead)
		}
		r := tool.Text(text)
		r.Structured = made
		return r, nil
	})
}

// Draft is the input of TeamCreate.
type Draft struct {
	Name        string `json:"team_name"`
	Description string `json:"description,omitempty"`
}

// OpenWorld returns false: the call reaches nothing outside.
func (in Draft) OpenWorld() bool { return false }

// Planning returns true: the call changes only adze's own state.
func (in Draft) Planning() bool { return true }

// Title returns a line for dialogs and logs.
func (in Draft) Title() string { return "Create the team " + tool.OneLine(in.Name, 60) }

// Activity returns the spinner text.
func (in Draft) Activity() string { return "Creating a team" }

// Delete returns the tool that ends the team.
func Delete(teams Teams) tool.Tool {
	return tool.New(tool.Def{
		Name: "TeamDelete", Doc: strings.TrimSpace(deleteDoc), Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Traits: tool.Traits{Translate: tool.InChinese(deleteChinese), Hint: "end the team and remove it", Late: true, Enabled: teams.Led},
	}, func(ctx context.Context, _ None, _ func(tool.Progress)) (tool.Result, error) {
		name, err := teams.Delete(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Text(fmt.Sprintf("The team %s has ended.", name)), nil
	})
}

// None is the empty input of TeamDelete.
type None struct{}

// OpenWorld returns false: the call reaches nothing outside.
func (None) OpenWorld() bool { return false }

// Planning returns true: the call changes only adze's own state.
func (None) Planning() bool { return true }

// Title returns a line for dialogs and logs.
func (None) Title() string { return "End the team" }

// Activity returns the spinner text.
func (None) Activity() string { return "Ending the team" }
