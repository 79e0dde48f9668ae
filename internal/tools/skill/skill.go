// Package skill implements the tool with which the model invokes skills.
package skill

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/platform/text/rank"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "Skill"

//go:embed skill.md
var doc string

//go:embed skill.zh.md
var chinese string

//go:embed skill.schema.json
var inputSchema string

//go:embed skill.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	Skill string `json:"skill"`
	Args  string `json:"args,omitempty"`
}

// Output is the structured result.
type Output struct {
	Success bool   `json:"success"`
	Name    string `json:"commandName"`
	// Status is "inline" or "forked".
	Status string `json:"status"`
	// Result is the final answer of a fork.
	Result string `json:"result,omitempty"`
}

// A Permissions is the permissions that a skill requests.
type Permissions struct {
	// Broken is the error if the requested permissions are invalid, in which case the skill is
	// not run; nil otherwise.
	Broken error
	// Free is true if no confirmation is needed.
	Free bool
	// Personal is true if only the user can approve.
	Personal bool
	// Text lists the actions that would be allowed, a line each.
	Text string
}

// Config configures the tool.
type Config struct {
	// Find returns the skill with a name, or nil. Names returns the names of all skills.
	Find  func(name string) *skill.Skill
	Names func() []string
	// Running reports whether a skill is already running with these arguments.
	Running     func(s *skill.Skill, args string) bool
	Permissions func(s *skill.Skill) Permissions
	Run         func(ctx context.Context, s *skill.Skill, args string, report func(tool.Progress)) (tool.Result, error)
	// Enabled returns an error if the tool is not offered.
	Enabled func() error
}

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core: true, Background: true,
			Params:    tool.Params{Texts: []string{"skill", "args"}},
			Translate: tool.InChinese(chinese),
			Hint:      "run a skill by its name",
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Enabled:   c.Enabled,
			Late:      true,
		},
	}, func(in Input) (tool.Call, error) { return c.bind(in) })
}

func (c *Config) bind(in Input) (tool.Call, error) {
	name := strings.TrimPrefix(strings.TrimSpace(in.Skill), "/")
	if name == "" {
		return nil, errors.New("skill is empty: give the name of a skill")
	}
	s := c.Find(name)
	switch {
	case s == nil:
		return nil, c.unknown(name)
	case s.Manual:
		return nil, fmt.Errorf("only the user can call the skill %s, by typing /%s", s.Name, s.Name)
	case c.Running(s, in.Args):
		return nil, fmt.Errorf("the skill %s is running already, and its instructions are in this conversation: follow them", s.Name)
	}
	if err := c.Permissions(s).Broken; err != nil {
		return nil, err
	}
	return c.Call(s, in.Args), nil
}

func (c *Config) unknown(name string) error {
	name = tool.OneLine(name, 80)
	if near := rank.Closest(name, c.Names(), 3); len(near) > 0 {
		return fmt.Errorf("unknown skill %q; did you mean %s?", name, strings.Join(near, ", "))
	}
	return fmt.Errorf("unknown skill %q; only the user can run built-in commands", name)
}

// Call returns a call of a skill.
func (c *Config) Call(s *skill.Skill, args string) tool.Call {
	return &call{config: c, skill: s, in: Input{Skill: s.Name, Args: args}}
}

// A call is a skill invocation.
type call struct {
	config *Config
	skill  *skill.Skill
	in     Input
}

// Input returns the input with the skill's canonical name.
func (c *call) Input() any { return c.in }

// Run runs the skill.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	return c.config.Run(ctx, c.skill, c.in.Args, report)
}

// Title returns the name of the skill.
func (c *call) Title() string {
	return tool.OneLine(strings.TrimSpace("Skill "+c.skill.Name+" "+c.in.Args), 120)
}

// Activity returns the spinner text.
func (c *call) Activity() string { return "Running skill " + c.skill.Name }

// Preapproved reports whether the skill requests no permissions.
func (c *call) Preapproved() bool { return c.config.Permissions(c.skill).Free }

// NeedsPerson reports whether only the user can approve.
func (c *call) NeedsPerson() bool { return c.config.Permissions(c.skill).Personal }

// Preview shows the actions that the skill would be allowed.
func (c *call) Preview(context.Context) (tool.Display, error) {
	text := fmt.Sprintf("%s (from %s)", c.skill.Description, c.skill.Origin)
	if wish := c.config.Permissions(c.skill).Text; wish != "" {
		text += "\nUntil the end of the turn it may, without asking:\n" + wish
	}
	return tool.Plain{Text: text}, nil
}

// Match compares the name with a rule: name, or name:* for all names with that prefix.
func (c *call) Match(content string) (bool, error) {
	content = strings.TrimPrefix(strings.TrimSpace(content), "/")
	if content == "*" || content == c.skill.Name {
		return true, nil
	}
	if name, ok := strings.CutSuffix(content, " *"); ok && name == c.skill.Name {
		return true, nil
	}
	prefix, open := strings.CutSuffix(content, ":*")
	return open && strings.HasPrefix(c.skill.Name, prefix), nil
}

// Rules returns the rules that would allow the skill: by name, and by name prefix.
func (c *call) Rules() []string {
	prefix := c.skill.Name
	if i := strings.LastIndexByte(prefix, ':'); i > 0 {
		prefix = prefix[:i]
	}
	return []string{c.skill.Name, prefix + ":*"}
}
