// Package workflow parses and runs workflows: steps that call agents, sequentially or
// concurrently, each with the results of earlier ones. A workflow is data, never code.
package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"adze/internal/platform/text/frontmatter"
	"adze/internal/tool/schema/draft"
)

// Workflow limits.
const (
	maxFile    = 256 << 10
	maxSteps   = 80
	maxRetries = 5
)

// A Workflow is a parsed workflow file.
type Workflow struct {
	Name, Description string
	Inputs            []string
	Steps             []Step
}

// A Step calls one agent, or is a group of steps that run concurrently.
type Step struct {
	Name                 string
	Agent, Prompt, Model string
	Worktree             bool
	Schema               json.RawMessage // output schema; nil means any text
	Retries              int             // after the first try
	When                 *Condition      // nil means always
	Parallel             []Step
}

// A Condition tests an earlier step's result. Exactly one comparison is set.
type Condition struct {
	Value    string // reference, such as steps.check.output.ok
	Equals   *string
	Contains *string
	Exists   *bool
}

var nameForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
})

// Parse parses a workflow in YAML or JSON. The error names the invalid step.
func Parse(name string, data []byte) (*Workflow, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("the workflow has %d bytes, and at most %d are read", len(data), maxFile)
	}
	read := func() (frontmatter.Fields, error) { return frontmatter.Parse(string(data)) }
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		read = func() (frontmatter.Fields, error) { return frontmatter.ParseJSON(data) }
	}
	fields, err := read()
	if err != nil {
		return nil, err
	}
	if err := known(fields, "name", "description", "inputs", "steps"); err != nil {
		return nil, err
	}
	w := &Workflow{Name: name, Description: fields["description"].Text}
	if given := fields["name"].Text; given != "" {
		w.Name = given
	}
	if !nameForm().MatchString(w.Name) {
		return nil, fmt.Errorf("the name %q is not 1 to 40 letters, digits, '_' or '-'", w.Name)
	}
	for _, v := range fields["inputs"].List {
		if !nameForm().MatchString(v.Text) {
			return nil, fmt.Errorf("the input %q is not a name", v.Text)
		}
		w.Inputs = append(w.Inputs, v.Text)
	}
	p := parser{seen: map[string]bool{}}
	if w.Steps, err = p.steps(fields["steps"], false); err != nil {
		return nil, err
	}
	return w, w.check()
}

// known returns an error for an unknown field.
func known(fields frontmatter.Fields, names ...string) error {
	for name := range fields {
		found := false
		for _, n := range names {
			found = found || n == name
		}
		if !found {
			return fmt.Errorf("unknown field %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// A parser parses steps.
type parser struct {
	seen map[string]bool
}

func (p *parser) steps(v frontmatter.Value, grouped bool) ([]Step, error) {
	if len(v.List) == 0 {
		return nil, errors.New("steps is empty: list at least one step")
	}
	var all []Step
	for _, item := range v.List {
		s, err := p.step(item.Fields, grouped)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (p *parser) step(f frontmatter.Fields, grouped bool) (Step, error) {
	s := Step{Name: f["name"].Text, Agent: f["agent"].Text, Prompt: f["prompt"].Text, Model: f["model"].Text}
	wrong := func(format string, args ...any) (Step, error) {
		return s, fmt.Errorf("step %q: %w", s.Name, fmt.Errorf(format, args...))
	}
	switch {
	case !nameForm().MatchString(s.Name):
		return wrong("its name must be 1 to 40 letters, digits, '_' or '-'")
	case p.seen[s.Name]:
		return wrong("another step has the same name")
	case len(p.seen) == maxSteps:
		return wrong("a workflow has at most %d steps", maxSteps)
	}
	p.seen[s.Name] = true
	var err error
	if group, ok := f["parallel"]; ok {
		if grouped {
			return wrong("a group cannot hold another group")
		}
		if err := known(f, "name", "when", "parallel"); err != nil {
			return wrong("%w", err)
		}
		if s.When, err = condition(f); err != nil {
			return wrong("%w", err)
		}
		s.Parallel, err = p.steps(group, true)
		return s, err
	}
	if err := known(f, "name", "agent", "prompt", "model", "worktree", "schema", "retries", "when"); err != nil {
		return wrong("%w", err)
	}
	if strings.TrimSpace(s.Prompt) == "" {
		return wrong("it has no prompt")
	}
	if s.When, err = condition(f); err != nil {
		return wrong("%w", err)
	}
	if err := s.options(f); err != nil {
		return wrong("%w", err)
	}
	return s, nil
}

// options parses a step's optional fields.
func (s *Step) options(f frontmatter.Fields) (err error) {
	if text := f["worktree"].Text; text != "" {
		if s.Worktree, err = strconv.ParseBool(text); err != nil {
			return errors.New("worktree must be true or false")
		}
	}
	if text := f["retries"].Text; text != "" {
		if s.Retries, err = strconv.Atoi(text); err != nil || s.Retries < 0 || s.Retries > maxRetries {
			return fmt.Errorf("retries must be a number from 0 to %d", maxRetries)
		}
	}
	v, ok := f["schema"]
	if !ok {
		return nil
	}
	if v.Fields == nil {
		return errors.New("its schema is not an object")
	}
	if s.Schema, err = json.Marshal(v.JSON(frontmatter.AsTyped)); err != nil {
		return err
	}
	if _, err := draft.Compile(s.Schema); err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	return nil
}

// condition parses a step's condition.
func condition(f frontmatter.Fields) (*Condition, error) {
	v, ok := f["when"]
	if !ok {
		return nil, nil
	}
	if err := known(v.Fields, "value", "equals", "contains", "exists"); err != nil {
		return nil, fmt.Errorf("when: %w", err)
	}
	c := &Condition{Value: v.Fields["value"].Text}
	given := 0
	text := func(name string) *string {
		v, ok := v.Fields[name]
		if !ok {
			return nil
		}
		given++
		return &v.Text
	}
	c.Equals, c.Contains = text("equals"), text("contains")
	if exists := text("exists"); exists != nil {
		b, err := strconv.ParseBool(*exists)
		if err != nil {
			return nil, errors.New("when: exists must be true or false")
		}
		c.Exists = &b
	}
	if given != 1 || c.Value == "" {
		return nil, errors.New("when: needs a value and exactly one condition: equals, contains or exists")
	}
	return c, nil
}

// check returns an error for references to values that do not exist when a step runs.
func (w *Workflow) check() error {
	names := map[string]bool{}
	for _, in := range w.Inputs {
		names["inputs."+in] = true
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		group := s.Parallel
		if group == nil {
			group = []Step{*s}
		} else if err := checkCondition(s, names); err != nil {
			return err
		}
		for j := range group {
			if err := checkStep(&group[j], names); err != nil {
				return err
			}
		}
		for _, inner := range group {
			names["steps."+inner.Name] = true
		}
	}
	return nil
}

func checkStep(s *Step, names map[string]bool) error {
	for _, ref := range references(s.Prompt) {
		if err := checkReference(ref, names); err != nil {
			return fmt.Errorf("step %q: {{%s}}: %w", s.Name, ref, err)
		}
	}
	return checkCondition(s, names)
}

func checkCondition(s *Step, names map[string]bool) error {
	if s.When == nil {
		return nil
	}
	if err := checkReference(s.When.Value, names); err != nil {
		return fmt.Errorf("step %q: when: %w", s.Name, err)
	}
	return nil
}
