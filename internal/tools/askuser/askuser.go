// Package askuser implements the AskUserQuestion tool, which asks the user multiple-choice
// questions.
package askuser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/tool"
)

// Name is the tool's name.
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

// Config configures the tool.
type Config struct {
	// Ask asks the user and waits for the answers.
	Ask func(context.Context, []Question) (Answer, error)
	// Available returns an error if no user can answer. A nil func means that the user is
	// available.
	Available func() error
}

// Input is the tool's input.
type Input struct {
	Questions []Question `json:"questions"`
}

// A Question is a single question.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multiSelect,omitempty"`
}

// An Option is a possible answer.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// An Answer is the user's reply.
type Answer struct {
	// Chosen holds, for each question, the labels of the chosen options or the user's text, or
	// nothing if the question was skipped.
	Chosen [][]string
	// Declined is true if the user answered no question. Message is their message instead; may
	// be empty.
	Declined bool
	Message  string
}

// Output is the structured result, in a format that hosts know.
type Output struct {
	Questions []Question        `json:"questions"`
	Answers   map[string]string `json:"answers"` // keyed by question; several answers are joined with commas
	Response  string            `json:"response,omitempty"`
}

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.New(tool.Def{
		Name: Name, Doc: strings.TrimSpace(doc), Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Core: true, MainOnly: true,
			Params: tool.Params{Texts: []string{"questions/question", "questions/header", "questions/options/label", "questions/options/description", "questions/options/preview"}},
			Hint:   "ask the user to choose between options", Enabled: c.Available, Translate: tool.InChinese(chinese),
			Output: json.RawMessage(strings.TrimSpace(outputSchema)), Redisplay: redisplay,
		},
	}, c.run)
}

// Validate rejects duplicate questions and options, whose answers would be ambiguous.
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

// ReadOnly returns true: a question changes nothing.
func (in Input) ReadOnly() bool { return true }

// OpenWorld returns false: a question reaches only the user.
func (in Input) OpenWorld() bool { return false }

// Title returns a line for dialogs and logs.
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

// Activity returns the text of the spinner.
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
	var told strings.Builder
	told.WriteString("The user answered:\n")
	for i, q := range in.Questions {
		text := strings.Join(a.Chosen[i], ", ")
		if text == "" {
			fmt.Fprintf(&told, "- %s\n  (skipped: decide this yourself and state your assumptions)\n", q.Question)
			continue
		}
		out.Answers[q.Question] = text
		fmt.Fprintf(&told, "- %s\n  %s\n", q.Question, text)
	}
	if a.Message != "" {
		fmt.Fprintf(&told, "They added: %s\n", a.Message)
	}
	r := tool.Text(strings.TrimSuffix(told.String(), "\n"))
	r.Structured, r.Display = out, out.display()
	return r, nil
}

// display returns the answers for the user.
func (o Output) display() tool.Display {
	var shown strings.Builder
	for _, q := range o.Questions {
		if text := o.Answers[q.Question]; text != "" {
			fmt.Fprintf(&shown, "%s: %s\n", tool.OneLine(q.heading(), 40), text)
		}
	}
	return tool.Plain{Text: strings.TrimSuffix(shown.String(), "\n")}
}

// redisplay returns the answers of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	var out Output
	if json.Unmarshal(structured, &out) != nil {
		return nil
	}
	if len(out.Answers) == 0 {
		return tool.Plain{Text: "not answered"}
	}
	return out.display()
}

// heading returns a short heading for the question.
func (q Question) heading() string {
	if q.Header != "" {
		return q.Header
	}
	return q.Question
}

// declined returns the result for the model if the user did not answer.
func declined(message string) string {
	if message != "" {
		return "No option was chosen. The reply was: " + message
	}
	return "The user did not answer. Do not repeat the question: decide yourself where possible and state your assumptions."
}
