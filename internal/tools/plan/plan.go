// Package plan implements EnterPlanMode and ExitPlanMode, the tools with which the model starts
// planning and presents its plan. The permission gate decides which calls are possible while
// planning and which mode follows; the user approves there too.
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

// Config configures the tools.
type Config struct {
	// File returns the session's plan file.
	File func() string
	// MayEnter and MayLeave return an error if planning cannot start or end now. Nil means
	// always possible.
	MayEnter, MayLeave func() error
	// Next returns the mode after a plan is approved. Nil means unknown.
	Next func() string
	// Enter starts planning and returns a message for the model.
	Enter func() (string, error)
	// Leave ends planning with the approved action classes, and returns the mode that follows.
	Leave func(prompts []Prompt) (mode string, err error)
	// Check returns an error if action classes are invalid; nil accepts all.
	Check func(prompts []Prompt) error
	// Restrained makes the model plan only if necessary.
	Restrained bool
	// Available returns an error if no one can approve a plan. A nil func means that the user
	// can.
	Available func() error
}

// enabled returns an error if planning is not available.
func (c Config) enabled() error {
	switch {
	case c.File == nil:
		return errors.New("plans need a state home")
	case c.Available != nil:
		return c.Available()
	}
	return nil
}

// A Prompt is a class of actions that a plan requests permission for, in natural language.
type Prompt struct {
	Tool   string `json:"tool"`
	Prompt string `json:"prompt"`
}

//go:embed enter.md
var enterDoc string

//go:embed eager.md
var eagerDoc string

//go:embed restrained.md
var restrainedDoc string

//go:embed exit.md
var exitDoc string

//go:embed enter.zh.md
var enterChinese string

//go:embed exit.zh.md
var exitChinese string

//go:embed exit.schema.json
var exitSchema string

//go:embed exit.output.json
var exitOutput string

// Enter returns the tool that starts planning.
func Enter(c Config) tool.Tool {
	when, name := eagerDoc, "eager"
	if c.Restrained {
		when, name = restrainedDoc, "restrained"
	}
	return tool.NewBound(tool.Def{
		Name:   "EnterPlanMode",
		Doc:    strings.TrimSpace(enterDoc) + "\n\n" + strings.TrimSpace(when),
		Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","description":"Why a plan helps here, in one sentence for the user."}},"additionalProperties":false}`),
		Traits: tool.Traits{
			Core: true, MainOnly: true,
			Params: tool.Params{Texts: []string{"reason"}},
			Hint:   "ask to plan before acting", Enabled: c.enabled, Spare: func() bool { return true },
			Translate: func(l texts.Language) map[string]string {
				all := tool.InChinese(enterChinese)(l)
				if all != nil {
					all = map[string]string{"doc": all["doc"] + "\n\n" + all[name], "reason": all["reason"]}
				}
				return all
			},
		},
	}, func(in EntryInput) (tool.Call, error) { return &entry{c, in}, nil })
}

// EntryInput is the input of EnterPlanMode.
type EntryInput struct {
	Reason string `json:"reason,omitempty"`
}

// An entry is a request to start planning.
type entry struct {
	c  Config
	in EntryInput
}

func (e *entry) Input() any { return e.in }

func (e *entry) Title() string {
	if e.in.Reason == "" {
		return "Plan before acting"
	}
	return "Plan before acting: " + e.in.Reason
}

func (e *entry) Activity() string  { return "Asking to plan first" }
func (e *entry) OpenWorld() bool   { return false }
func (e *entry) NeedsPerson() bool { return true }
func (e *entry) Planning() bool    { return true }

// Foresee returns an error if planning cannot start.
func (e *entry) Foresee(bool) error {
	if e.c.MayEnter == nil {
		return nil
	}
	return e.c.MayEnter()
}

// Consent describes the effect of the user's approval.
func (e *entry) Consent() string {
	return "Yes switches to plan mode: the model reads and writes a plan, and changes nothing else until you approve it."
}

func (e *entry) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	text, err := e.c.Enter()
	if err != nil {
		return tool.Result{}, err
	}
	r := tool.Text("The user agreed to plan first.\n\n" + text)
	r.Display = tool.Plain{Text: "plan mode is on"}
	return r, nil
}

// Input is the input of ExitPlanMode. The plan is in the file unless it is given here.
type Input struct {
	Prompts []Prompt `json:"allowedPrompts,omitempty"`
	Plan    string   `json:"plan,omitempty"`
}

// Output is the structured result.
type Output struct {
	Plan         string `json:"plan"`
	FilePath     string `json:"filePath"`
	Mode         string `json:"mode"`
	Edited       bool   `json:"plan_was_edited"`
	ClearContext bool   `json:"clearContext"`
}

// Exit returns the tool that presents the plan.
func Exit(c Config) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   "ExitPlanMode",
		Doc:    strings.TrimSpace(exitDoc),
		Schema: json.RawMessage(strings.TrimSpace(exitSchema)),
		Traits: tool.Traits{
			Core: true, MainOnly: true,
			Params: tool.Params{Texts: []string{"plan", "allowedPrompts/prompt"}},
			Hint:   "submit the plan for approval", Enabled: c.enabled, Spare: func() bool { return c.MayLeave != nil && c.MayLeave() != nil }, Translate: tool.InChinese(exitChinese),
			Output: json.RawMessage(strings.TrimSpace(exitOutput)),
		},
	}, func(in Input) (tool.Call, error) {
		if c.Check != nil {
			if err := c.Check(in.Prompts); err != nil {
				return nil, err
			}
		}
		return &exit{c: c, in: in}, nil
	})
}

// An exit is a plan awaiting approval.
type exit struct {
	c  Config
	in Input

	shown  *string // plan as shown; nil if not shown yet
	edited *string // plan as edited by the user in the answer
	clear  bool    // continue with the plan as the only context
}

func (e *exit) Input() any        { return e.in }
func (e *exit) Title() string     { return "Present the plan" }
func (e *exit) Activity() string  { return "Presenting the plan" }
func (e *exit) OpenWorld() bool   { return false }
func (e *exit) NeedsPerson() bool { return true }
func (e *exit) Planning() bool    { return true }

// Foresee returns an error if there is nothing to approve.
func (e *exit) Foresee(bool) error {
	if e.c.MayLeave != nil {
		if err := e.c.MayLeave(); err != nil {
			return err
		}
	}
	_, err := e.current(e.c.File())
	return err
}

// Consent describes the effect of the user's approval.
func (e *exit) Consent() string {
	text := "Yes approves the plan: plan mode ends, and the model begins to carry it out"
	if e.c.Next != nil {
		text += " in mode " + e.c.Next()
	}
	text += "."
	for _, p := range e.in.Prompts {
		text += "\nThe plan also asks for permission to: " + tool.OneLine(p.Prompt, 200) + "."
	}
	return text
}

// Draft lets the user edit the plan.
func (e *exit) Draft() tool.Draft {
	p := &tool.Plan{File: e.c.File()}
	if e.c.Next != nil {
		p.Next = e.c.Next()
	}
	for _, asked := range e.in.Prompts {
		p.Asks = append(p.Asks, tool.OneLine(asked.Prompt, 200))
	}
	return tool.Draft{Field: "plan", Plan: p}
}

// current returns the model's plan, from the call or else from the file.
func (e *exit) current(path string) (string, error) {
	if strings.TrimSpace(e.in.Plan) != "" && len(e.in.Plan) <= maxPlan {
		return e.in.Plan, nil
	}
	return read(path)
}

// plannedInput is the input with the plan, as shown to users and hosts.
type plannedInput struct {
	Input
	Plan     string `json:"plan"`
	FilePath string `json:"planFilePath"`
}

// Observe reads the plan, so that the user approves exactly the plan shown.
func (e *exit) Observe() any {
	text, err := e.current(e.c.File())
	if err == nil {
		e.shown = &text
	}
	return plannedInput{e.in, text, e.c.File()}
}

// Preview shows the plan.
func (e *exit) Preview(context.Context) (tool.Display, error) {
	text, err := e.current(e.c.File())
	return tool.Plain{Text: text}, err
}

// Amend applies the user's changes from the answer: the plan, and whether to continue with it
// alone.
func (e *exit) Amend(input json.RawMessage) (tool.Call, error) {
	var in struct {
		Prompts []Prompt `json:"allowedPrompts"`
		Plan    *string  `json:"plan"`
		Clear   bool     `json:"clearContext"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	amended := &exit{c: e.c, in: Input{Prompts: in.Prompts, Plan: e.in.Plan}, shown: e.shown, edited: in.Plan, clear: in.Clear}
	if e.c.Check != nil {
		return amended, e.c.Check(in.Prompts)
	}
	return amended, nil
}

func (e *exit) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	path := e.c.File()
	text, err := e.final(path)
	if err != nil {
		return tool.Result{}, err
	}
	mode, err := e.c.Leave(e.in.Prompts)
	if err != nil {
		return tool.Result{}, err
	}
	out := Output{Plan: text, FilePath: path, Mode: mode, Edited: e.shown != nil && *e.shown != text, ClearContext: e.clear}
	var b strings.Builder
	fmt.Fprintf(&b, "The user approved the plan. It is in %s. The permission mode is %s.\n", path, mode)
	if out.Edited {
		b.WriteString("The user edited the plan first: follow this version, not yours (plan_was_edited).\n")
	}
	fmt.Fprintf(&b, "\n## Approved plan\n\n%s", text)
	r := tool.Text(b.String())
	r.Structured, r.Display = out, tool.Plain{Text: approved(mode)}
	return r, nil
}

// approved describes an approved plan to the user.
func approved(mode string) string {
	switch mode {
	case "default":
		return "approved; adze asks before each edit"
	case "acceptEdits":
		return "approved; edits no longer need confirmation"
	}
	return "approved; " + mode + " mode"
}

// final returns the approved plan. A plan from the call or the answer is written to the file.
func (e *exit) final(path string) (string, error) {
	edited := e.edited
	if edited == nil && strings.TrimSpace(e.in.Plan) != "" {
		edited = &e.in.Plan // the file may have a different plan
	} else if edited != nil && e.shown != nil && *edited == *e.shown && e.in.Plan == "" {
		edited = nil
	}
	if edited != nil {
		if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
			return "", fmt.Errorf("keeping the plan: %w", err)
		}
		if err := os.WriteFile(path, []byte(*edited), 0o600); err != nil {
			return "", fmt.Errorf("keeping the plan: %w", err)
		}
		return *edited, nil
	}
	return read(path)
}

// maxPlan is the maximum size of a plan that is read.
const maxPlan = 1 << 20

// read returns the plan. Its error is advice for the model.
func read(path string) (string, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && strings.TrimSpace(string(data)) == "":
		return "", fmt.Errorf("no plan yet: write it to %s with Write, then present it again", path)
	case err != nil:
		return "", fmt.Errorf("reading the plan: %w", err)
	case len(data) > maxPlan:
		return "", fmt.Errorf("the plan in %s is longer than 1 MB: write a shorter one", path)
	}
	return string(data), nil
}
