// Package askuser is the tool AskUserQuestion, with which the model puts questions with options to the user. How a question
// looks and who answers it is left to the front ends.
package askuser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/tool"
)

// Name is what the model calls the tool by.
const Name = "AskUserQuestion"

var (
	//go:embed askuser.md
	doc string
	//go:embed askuser.zh.md
	chinese string
	//go:embed askuser.schema.json
	inputSchema string
	//go:embed askuser.output.json
	outputSchema string
)

// A Config is what the tool needs.
type Config struct {
	// Ask puts questions to the user and waits for the answers.
	Ask func(context.Context, []Question) (Answer, error)
	// Available reports why the user cannot be asked, or nil. A nil func means that the user can.
	Available func() error
}

// An Input is what the model gives.
type Input struct {
	Questions []Question `json:"questions"`
}

// A Question is one matter to decide.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multiSelect,omitempty"`
}

// An Option can be chosen.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// An Answer is what the user says.
type Answer struct {
	// Chosen has for each question the labels of options, or what the user wrote instead; none if the question was skipped.
	Chosen [][]string
	// Declined says that the user answered none of them, and Message what they said instead; it may be empty.
	Declined bool
	Message  string
}

// An Output is the structured result, in the shape that hosts know.
type Output struct {
	Questions []Question        `json:"questions"`
	Answers   map[string]string `json:"answers"` // by question; several are joined with commas
	Response  string            `json:"response,omitempty"`
}

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.New(tool.Def{
		Name: Name, Doc: strings.TrimSpace(doc), Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Params: tool.Params{Texts: []string{"questions/question", "questions/header", "questions/options/label", "questions/options/description", "questions/options/preview"}},
			Hint:   "ask the user to choose between options", Enabled: c.Available, Translate: tool.InChinese(chinese),
			Output: json.RawMessage(strings.TrimSpace(outputSchema)),
		},
	}, c.run)
}

// Validate refuses questions whose answers could not be told apart.
func (in Input) Validate() error {
	asked := map[string]bool{}
	for _, q := range in.Questions {
		if asked[q.Question] {
			return fmt.Errorf("the question %q is there twice: ask each once", q.Question)
		}
		asked[q.Question] = true
		labels := map[string]bool{}
		for _, o := range q.Options {
			if labels[o.Label] {
				return fmt.Errorf("the question %q has the option %q twice: give each option a label of its own", q.Question, o.Label)
			}
			labels[o.Label] = true
		}
	}
	return nil
}

// ReadOnly says that a question changes nothing.
func (in Input) ReadOnly() bool { return true }

// OpenWorld says that a question reaches no one but the user.
func (in Input) OpenWorld() bool { return false }

// Title returns one line for dialogs and logs.
func (in Input) Title() string {
	if len(in.Questions) == 0 {
		return "Question"
	}
	title := "Question: " + tool.OneLine(in.Questions[0].Question, 60)
	if n := len(in.Questions) - 1; n > 0 {
		title += fmt.Sprintf(" (and %d more)", n)
	}
	return title
}

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Waiting for your answer" }

func (c Config) run(ctx context.Context, in Input, _ func(tool.Progress)) (tool.Result, error) {
	a, err := c.Ask(ctx, in.Questions)
	if err != nil {
		return tool.Result{}, err
	}
	out := Output{Questions: in.Questions, Answers: map[string]string{}, Response: a.Message}
	if a.Declined {
		r := tool.Text(declined(a.Message))
		r.Structured, r.Display = out, tool.Plain{Text: "not answered"}
		return r, nil
	}
	var told, shown strings.Builder
	told.WriteString("The user answered:\n")
	for i, q := range in.Questions {
		text := strings.Join(a.Chosen[i], ", ")
		if text == "" {
			fmt.Fprintf(&told, "- %s\n  (skipped: decide this yourself, and say what you assumed)\n", q.Question)
			continue
		}
		out.Answers[q.Question] = text
		fmt.Fprintf(&told, "- %s\n  %s\n", q.Question, text)
		fmt.Fprintf(&shown, "%s: %s\n", tool.OneLine(q.heading(), 40), text)
	}
	if a.Message != "" {
		fmt.Fprintf(&told, "They added: %s\n", a.Message)
	}
	r := tool.Text(strings.TrimSuffix(told.String(), "\n"))
	r.Structured, r.Display = out, tool.Plain{Text: strings.TrimSuffix(shown.String(), "\n")}
	return r, nil
}

// heading returns a few words for the question.
func (q Question) heading() string {
	if q.Header != "" {
		return q.Header
	}
	return q.Question
}

// declined tells the model that there are no answers.
func declined(message string) string {
	if message != "" {
		return "No option was chosen. The reply was: " + message
	}
	return "The user did not answer. Do not ask the same again: decide yourself what can be decided, and say what you assumed."
}
