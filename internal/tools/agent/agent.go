// Package agent implements the tool that launches agents.
package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "Agent"

//go:embed agent.md
var doc string

//go:embed agent.zh.md
var chinese string

//go:embed agent.schema.json
var inputSchema string

//go:embed agent.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Type        string `json:"subagent_type,omitempty"`
	Model       string `json:"model,omitempty"`
	Background  bool   `json:"run_in_background,omitempty"`
	Isolation   string `json:"isolation,omitempty"`
	Name        string `json:"name,omitempty"`
	Team        string `json:"team_name,omitempty"`
	Mode        string `json:"mode,omitempty"`
	Dir         string `json:"cwd,omitempty"`
}

// The statuses of an output.
const (
	Completed = "completed"
	Launched  = "async_launched"
	Spawned   = "teammate_spawned"
)

// Output is the structured result.
type Output struct {
	Status      string `json:"status"`
	ID          string `json:"agentId"`
	Type        string `json:"agentType,omitempty"`
	Description string `json:"description,omitempty"`
	Content     []Text `json:"content,omitempty"`
	Tokens      int    `json:"totalTokens,omitempty"`
	Calls       int    `json:"totalToolUseCount,omitempty"`
	Took        int64  `json:"totalDurationMs,omitempty"`
	OutputFile  string `json:"outputFile,omitempty"`
	Worktree    string `json:"worktreePath,omitempty"`
	Branch      string `json:"worktreeBranch,omitempty"`
	Name        string `json:"name,omitempty"`
	Team        string `json:"teamName,omitempty"`
	// Task is the ID of the background task.
	Task string `json:"backgroundTaskId,omitempty"`
}

// A Text is a text part of an agent's answer.
type Text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// A Type is a type of agent that can be launched.
type Type struct{ Name, About string }

// Config configures the tool.
type Config struct {
	// Types lists the agent types described to the model at the start of the conversation.
	// Usual is the default type; empty means a fork.
	Types []Type
	Usual string
	// Run launches an agent.
	Run func(ctx context.Context, in Input, report func(tool.Progress)) (tool.Result, error)
	// Holds returns an error if an agent cannot work in a directory.
	Holds func(dir string) error
	// Enabled returns an error if the tool is not available.
	Enabled func() error
}

// Limits on the list of agent types.
const (
	maxTypes = 60
	maxAbout = 240 // characters per description
)

// New returns the tool.
func New(c Config) tool.Tool {
	list := c.list()
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc) + list,
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core:    true,
			Params:  tool.Params{Paths: []string{"cwd"}, Texts: []string{"description", "prompt", "subagent_type", "model", "name", "team_name", "mode"}},
			Aliases: []string{"Task"},
			Hint:    "launch an agent for a task of its own", Delegates: true,
			Translate: func(l texts.Language) map[string]string {
				all := tool.InChinese(chinese)(l)
				if all["doc"] != "" {
					all["doc"] = strings.TrimSpace(all["doc"]) + list
				}
				return all
			},
			Output: json.RawMessage(strings.TrimSpace(outputSchema)), Enabled: c.Enabled, MaxChars: 60_000,
		},
	}, func(in Input) (tool.Call, error) { return c.bind(in) })
}

// list returns the list of agent types for the model.
func (c *Config) list() string {
	var b strings.Builder
	for i, t := range c.Types {
		if i == maxTypes {
			fmt.Fprintf(&b, "\n- and %d more", len(c.Types)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s: %s", t.Name, cut(t.About))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nTypes:" + b.String()
}

// cut shortens a description to one line.
func cut(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > maxAbout {
		s = string([]rune(s)[:maxAbout-1]) + "…"
	}
	return s
}

func (c *Config) bind(in Input) (tool.Call, error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, errors.New("prompt is empty: describe the agent's task")
	}
	if in.Isolation == "worktree" && in.Dir != "" {
		return nil, errors.New("isolation and cwd cannot be combined: a worktree is a directory of its own")
	}
	if in.Type == "" {
		in.Type = c.Usual
	}
	return &call{config: c, in: in}, nil
}

// A call is a launch.
type call struct {
	config *Config
	in     Input
}

// Input returns the input with the default type filled in.
func (c *call) Input() any { return c.in }

// Run launches the agent.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	return c.config.Run(ctx, c.in, report)
}

// Title returns the type and the task.
func (c *call) Title() string {
	kind := c.in.Type
	if kind == "" {
		kind = "fork"
	}
	return tool.OneLine(kind+": "+c.in.Description, 120)
}

// DisplayName returns the name shown to the user.
func (c *call) DisplayName() string { return Name }

// Activity returns the text of the spinner.
func (c *call) Activity() string { return tool.OneLine("Agent: "+c.in.Description, 80) }

// Concurrent returns true: agents may run in parallel.
func (c *call) Concurrent() bool { return true }

// OpenWorld returns false: a launch does not reach beyond this machine.
func (c *call) OpenWorld() bool { return false }

// Preapproved returns true: a launch needs no prompt, because the agent's calls are checked
// individually. It is not read-only, so that no agent is launched for an answer that was
// withdrawn.
func (c *call) Preapproved() bool { return true }

// Access returns the agent's working directory, if the call names one.
func (c *call) Access() []tool.Access {
	if c.in.Dir == "" {
		return nil
	}
	return []tool.Access{{Verb: tool.Read, Target: c.in.Dir}}
}

// Foresee returns an error if the agent cannot work in the directory that the call names.
func (c *call) Foresee(bool) error {
	if c.in.Dir == "" {
		return nil
	}
	if err := c.config.Holds(c.in.Dir); err != nil {
		return fmt.Errorf("cwd: %w", err)
	}
	return nil
}

// Match compares the agent type with a rule.
func (c *call) Match(content string) (bool, error) {
	content = strings.TrimSpace(content)
	return content == "*" || strings.EqualFold(content, c.in.Type), nil
}

// Rules returns the rule for the agent type.
func (c *call) Rules() []string { return []string{c.in.Type} }
