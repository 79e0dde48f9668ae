// Package discover implements the tool that searches skills by keywords.
package discover

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/text/rank/tfidf"
	"adze/internal/tool"
)

// Name is the tool's name.
const Name = "DiscoverSkills"

//go:embed discover.md
var doc string

//go:embed discover.zh.md
var chinese string

//go:embed discover.schema.json
var schema string

//go:embed discover.output.json
var output string

// defaultResults is the default number of skills returned.
const defaultResults = 10

// maxChars limits the text of a result: twenty skills with names and descriptions.
const maxChars = 12_000

// Input is the tool's input.
type Input struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results,omitempty"`
}

// ReadOnly returns true: the call changes nothing.
func (in Input) ReadOnly() bool { return true }

// Concurrent returns true: a search does not affect other calls.
func (in Input) Concurrent() bool { return true }

// OpenWorld returns false: the call reaches nothing outside.
func (in Input) OpenWorld() bool { return false }

// Access returns nil: the call accesses only the list of skills.
func (in Input) Access() []tool.Access { return nil }

// Fold classifies the call as a search.
func (in Input) Fold() tool.Fold { return tool.FoldSearch }

// Title returns a line for dialogs and logs.
func (in Input) Title() string { return tool.OneLine("Search skills: "+in.Query, 80) }

// Activity returns the spinner text.
func (in Input) Activity() string { return tool.OneLine("Searching skills: "+in.Query, 80) }

// Output is the structured result.
type Output struct {
	Query   string   `json:"query"`
	Matches []string `json:"matches"`
	Total   int      `json:"total"`
}

// New returns the tool, which searches skills with f.
func New(f *Finder) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(schema)),
		Traits: tool.Traits{
			Params:    tool.Params{Texts: []string{"query"}},
			Translate: tool.InChinese(chinese), Hint: "find skills by words", Enabled: f.enabled,
			MaxChars: maxChars, NeverPersist: true, Output: json.RawMessage(strings.TrimSpace(output)),
		},
	}, f.bind)
}

// A call is a search.
type call struct {
	in     Input
	finder *Finder
}

func (c *call) Input() any { return c.in }

// bind checks that the query is not empty.
func (f *Finder) bind(in Input) (tool.Call, error) {
	if len(tfidf.Terms(in.Query)) == 0 {
		return nil, errors.New("the query has no words to search for: describe the task in a few, such as \"review a pull request\"")
	}
	return &call{in, f}, nil
}

// Run implements [tool.Call].
func (c *call) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	limit := c.in.MaxResults
	if limit == 0 {
		limit = defaultResults
	}
	x := c.finder.catalog()
	out := Output{Query: c.in.Query, Matches: []string{}, Total: len(x.skills)}
	var b strings.Builder
	for _, s := range x.find(c.in.Query, limit) {
		out.Matches = append(out.Matches, s.Name)
		b.WriteString(entry(s) + "\n")
	}
	if len(out.Matches) == 0 {
		fmt.Fprintf(&b, "No skill matches %q, among %d. Try other words, or do the task without a skill.", tool.OneLine(c.in.Query, 200), out.Total)
	} else {
		fmt.Fprintf(&b, "\nNext: %s {\"skill\": %q}", c.finder.Runner, out.Matches[0])
		if c.finder.Seen != nil {
			c.finder.Seen.Add(out.Matches...)
		}
	}
	result := tool.Text(b.String())
	result.Structured = out
	result.Display = tool.Plain{Text: strings.Join(out.Matches, "\n")}
	if len(out.Matches) == 0 {
		result.Display = tool.Plain{Text: fmt.Sprintf("No skill found among %d", out.Total)}
	}
	return result, nil
}
