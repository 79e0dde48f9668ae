// Package discover is the tool with which the model finds skills by words. Which skills there are, and running them, is left
// to others.
package discover

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/tfidf"
	"adze/internal/tool"
)

// Name is that of the tool.
const Name = "DiscoverSkills"

//go:embed discover.md
var doc string

//go:embed discover.zh.md
var chinese string

//go:embed discover.schema.json
var schema string

//go:embed discover.output.json
var output string

// defaultResults is how many skills are returned if the model does not say.
const defaultResults = 10

// maxChars bounds the text of a result: twenty skills, each with its name and what it says of itself.
const maxChars = 12_000

// An Input is what the model gives.
type Input struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results,omitempty"`
}

// ReadOnly says that nothing is changed.
func (in Input) ReadOnly() bool { return true }

// Concurrent says that searching disturbs no other call.
func (in Input) Concurrent() bool { return true }

// OpenWorld says that nothing outside is asked.
func (in Input) OpenWorld() bool { return false }

// Access says that nothing but the list of skills is touched.
func (in Input) Access() []tool.Access { return nil }

// Fold says that the call searches.
func (in Input) Fold() tool.Fold { return tool.FoldSearch }

// Title returns one line for dialogs and logs.
func (in Input) Title() string { return tool.OneLine("Search skills: "+in.Query, 80) }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return tool.OneLine("Searching skills: "+in.Query, 80) }

// An Output is the structured result.
type Output struct {
	Query   string   `json:"query"`
	Matches []string `json:"matches"`
	Total   int      `json:"total"`
}

// New returns the tool, which finds skills with f.
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

// A call is one search.
type call struct {
	in     Input
	finder *Finder
}

func (c *call) Input() any { return c.in }

// bind checks that there is something to search for.
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
