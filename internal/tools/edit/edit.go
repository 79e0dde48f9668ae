// Package edit is the tool that replaces a piece of text in a file. How the text is found is left to
// platform/edit, how the file is written safely to tool/change; what may be changed is decided by the
// permission rules, before it runs.
package edit

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	engine "adze/internal/platform/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Name is the name of the tool.
const Name = "Edit"

// A Config is what the tool needs.
type Config struct {
	Files *change.Files
	// WholeOnly refuses edits of files that were not read completely, even inside the lines that were.
	WholeOnly bool
}

// The error codes of the tool's contract, beside those of [change].
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

// An Input is what the model gives.
type Input struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

// Draft lets the user edit the replacement.
func (Input) Draft() tool.Draft { return tool.Draft{Field: "new_string"} }

// New returns the tool.
func New(c Config) tool.Tool {
	var t tool.Tool
	t = tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Strict: true,
		Traits: tool.Traits{
			Params:    tool.Params{Paths: []string{"file_path"}, Texts: []string{"old_string", "new_string"}},
			Translate: tool.InChinese(chinese),
			Hint:      "replace text in a file",
			MaxChars:  100_000,
			Clearable: true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Restore:   c.Files.Restore,
			Enabled:   c.Files.Enabled,
		},
	}, func(in Input) (tool.Call, error) { return c.bind(t, in) })
	return t
}

// bind checks everything about in that can be told without touching the disk.
func (c Config) bind(t tool.Tool, in Input) (tool.Call, error) {
	proposal, err := change.Propose(c.Files, t, in, func(in *Input) *string { return &in.FilePath })
	if err != nil {
		return nil, err
	}
	if in.OldString == in.NewString {
		return nil, &tool.Error{Code: codeSame, Text: "old_string and new_string are the same: there is nothing to change."}
	}
	if strings.EqualFold(filepath.Ext(proposal.Path()), ".ipynb") {
		return nil, &tool.Error{Code: codeNotebook, Text: fmt.Sprintf("%s is a notebook: change it with NotebookEdit.", proposal.Path())}
	}
	return &call{Proposal: proposal, wholeOnly: c.WholeOnly}, nil
}

// A call is one edit of one file.
type call struct {
	change.Proposal[Input]
	wholeOnly bool
}

func (c *call) Title() string    { return "Edit " + c.Shown() }
func (c *call) Activity() string { return "Editing " + c.Shown() }

// Foresee reports why the edit would fail.
func (c *call) Foresee(look bool) error {
	edit := (&outcome{call: c}).make
	switch {
	case look:
		return c.Rehearse(edit)
	case c.In.OldString == "":
		return nil // whether there is a file is not recorded
	}
	return c.Recorded(edit)
}

// Preview shows the edit as it would be now.
func (c *call) Preview(context.Context) (tool.Display, error) {
	data, err := c.Peek()
	if err != nil {
		return nil, err
	}
	if c.In.OldString == "" {
		hunks, whole := engine.Diff(nil, []byte(c.In.NewString))
		return change.Preview(c.Target.Path, len(data) == 0, hunks, whole), nil
	}
	plan, err := engine.Find(data, c.request())
	if err != nil {
		return nil, c.refusal(err)
	}
	hunks, whole := plan.Hunks()
	return change.Preview(c.Target.Path, false, hunks, whole), nil
}

func (c *call) request() engine.Request {
	return engine.Request{Old: c.In.OldString, New: c.In.NewString, All: c.In.ReplaceAll}
}
