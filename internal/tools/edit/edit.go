// Package edit implements the tool that replaces text in a file.
package edit

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	engine "adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Name is the tool's name.
const Name = "Edit"

// Config configures the tool.
type Config struct {
	Files *change.Files
	// WholeOnly rejects edits of files that were not read completely, even within the lines
	// that were.
	WholeOnly bool
}

// The error codes of the tool's contract; [change] has more.
const (
	codeSame      = 1
	codeNotEmpty  = 3
	codeNotebook  = 5
	codeNotFound  = 8
	codeAmbiguous = 9
)

//go:embed edit.md
var doc string

//go:embed edit.zh.md
var chinese string

//go:embed edit.schema.json
var inputSchema string

//go:embed edit.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	FilePath   string        `json:"file_path"`
	OldString  *string       `json:"old_string,omitempty"`
	NewString  *string       `json:"new_string,omitempty"`
	ReplaceAll bool          `json:"replace_all,omitempty"`
	Edits      []Replacement `json:"edits,omitempty"`
}

// A Replacement is a single edit in a list of edits.
type Replacement struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

// Draft lets the user edit the replacement if there is only one.
func (in Input) Draft() tool.Draft {
	if in.Edits != nil {
		return tool.Draft{}
	}
	return tool.Draft{Field: "new_string"}
}

// replacements returns the edits, at least one.
func (in Input) replacements() ([]Replacement, error) {
	single := in.OldString != nil || in.NewString != nil || in.ReplaceAll
	switch {
	case len(in.Edits) > 0 && single:
		return nil, &tool.InputError{Err: errors.New("invalid input for Edit: give either edits, or old_string and new_string")}
	case len(in.Edits) > 0:
		for i, r := range in.Edits {
			if r.OldString == "" {
				return nil, &tool.InputError{Err: fmt.Errorf("invalid input for Edit: edits[%d].old_string is empty", i)}
			}
		}
		return in.Edits, nil
	case in.OldString == nil && in.NewString == nil:
		return nil, &tool.InputError{Err: errors.New("invalid input for Edit: old_string and new_string are missing, or edits")}
	case in.OldString == nil:
		return nil, &tool.InputError{Err: errors.New("invalid input for Edit: old_string: required, but missing")}
	case in.NewString == nil:
		return nil, &tool.InputError{Err: errors.New("invalid input for Edit: new_string: required, but missing")}
	}
	return []Replacement{{*in.OldString, *in.NewString, in.ReplaceAll}}, nil
}

// New returns the tool.
func New(c Config) tool.Tool {
	var t tool.Tool
	t = tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Strict: true,
		Traits: tool.Traits{
			Core: true, Background: true,
			Served:    &tool.Annotations{Fixed: true},
			Params:    tool.Params{Paths: []string{"file_path"}, Texts: []string{"old_string", "new_string", "edits/old_string", "edits/new_string"}},
			Translate: tool.InChinese(chinese),
			Hint:      "replace text in a file",
			MaxChars:  100_000,
			Clearable: true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Restore:   c.Files.Restore,
			Redisplay: change.Redisplay,
			Enabled:   c.Files.Enabled,
		},
	}, func(in Input) (tool.Call, error) { return c.bind(t, in) })
	return t
}

// bind validates the input without accessing the disk.
func (c Config) bind(t tool.Tool, in Input) (tool.Call, error) {
	proposal, err := change.Propose(c.Files, t, in, func(in *Input) *string { return &in.FilePath })
	if err != nil {
		return nil, err
	}
	edits, err := in.replacements()
	if err != nil {
		return nil, err
	}
	for i, r := range edits {
		if r.OldString == r.NewString {
			return nil, &tool.Error{Code: codeSame, Text: nth(edits, i) + "old_string and new_string are the same: there is nothing to change."}
		}
	}
	if strings.EqualFold(filepath.Ext(proposal.Path()), ".ipynb") {
		return nil, &tool.Error{Code: codeNotebook, Text: fmt.Sprintf("%s is a notebook: change it with NotebookEdit.", proposal.Path())}
	}
	return &call{Proposal: proposal, edits: edits, wholeOnly: c.WholeOnly}, nil
}

// nth returns a prefix that identifies an edit in a message, or "" for a single edit.
func nth(edits []Replacement, i int) string {
	if len(edits) == 1 {
		return ""
	}
	return fmt.Sprintf("edits[%d]: ", i)
}

// A call applies all edits of a file, or none.
type call struct {
	change.Proposal[Input]
	edits     []Replacement
	wholeOnly bool
}

// creates reports whether the call creates a file.
func (c *call) creates() bool { return c.edits[0].OldString == "" }

func (c *call) Title() string    { return "Edit " + c.Shown() }
func (c *call) Activity() string { return "Editing " + c.Shown() }

// Foresee returns an error if the edit would fail.
func (c *call) Foresee(look bool) error {
	edit := (&outcome{call: c}).make
	switch {
	case look:
		return c.Rehearse(edit)
	case c.creates():
		return nil // the existence of the file is not recorded
	}
	if _, known := c.Known(); !known && !c.wholeOnly && !c.replacesAll() {
		return nil
	}
	return c.Recorded(edit)
}

// Preview shows the edit as it would be now.
func (c *call) Preview(context.Context) (tool.Display, error) {
	data, err := c.Peek()
	if err != nil {
		return nil, err
	}
	e := outcome{call: c}
	if c.creates() {
		hunks, whole := engine.Diff(nil, []byte(c.edits[0].NewString))
		return change.Preview(c.Target.Path, len(data) == 0, hunks, whole), nil
	}
	if _, err := e.apply(data, nil); err != nil {
		return nil, err
	}
	return change.Preview(c.Target.Path, false, e.hunks, !e.truncated), nil
}

// replacesAll reports whether any edit replaces all occurrences.
func (c *call) replacesAll() bool {
	return slices.ContainsFunc(c.edits, func(r Replacement) bool { return r.ReplaceAll })
}

func (r Replacement) request() engine.Request {
	return engine.Request{Old: r.OldString, New: r.NewString, All: r.ReplaceAll}
}
