// Package notebook implements the tool that changes a cell of a Jupyter notebook and keeps
// every byte of the others.
package notebook

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Config configures the tool.
type Config struct{ Files *change.Files }

// The error codes of the tool's contract; [change] has more.
const (
	codeNotNotebook = 5
	codeNoCell      = 8
)

// Name is the tool's name.
const Name = "NotebookEdit"

//go:embed notebook.md
var doc string

//go:embed notebook.zh.md
var chinese string

//go:embed notebook.schema.json
var inputSchema string

//go:embed notebook.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	NotebookPath string  `json:"notebook_path"`
	CellID       string  `json:"cell_id,omitempty"`
	NewSource    *string `json:"new_source,omitempty"`
	CellType     string  `json:"cell_type,omitempty"`
	EditMode     string  `json:"edit_mode,omitempty"`
}

// source returns the new source of the cell, or "" for a deleted cell.
func (in Input) source() string {
	if in.NewSource == nil {
		return ""
	}
	return *in.NewSource
}

// Draft lets the user edit the cell.
func (Input) Draft() tool.Draft { return tool.Draft{Field: "new_source"} }

// The modes.
const (
	replaceMode = "replace"
	insertMode  = "insert"
	deleteMode  = "delete"
)

// New returns the tool.
func New(c Config) tool.Tool {
	var t tool.Tool
	t = tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Strict: true,
		Traits: tool.Traits{
			Background: true,
			Served:     &tool.Annotations{Fixed: true},
			Params:     tool.Params{Paths: []string{"notebook_path"}, Texts: []string{"cell_id", "new_source"}},
			Translate:  tool.InChinese(chinese),
			Hint:       "change cells of a Jupyter notebook",
			MaxChars:   100_000,
			Output:     json.RawMessage(strings.TrimSpace(outputSchema)),
			Redisplay:  redisplay,
			Restore:    c.Files.Restore,
			Enabled:    c.Files.Enabled,
		},
	}, func(in Input) (tool.Call, error) { return c.bind(t, in) })
	return t
}

// bind validates the input without accessing the disk.
func (c Config) bind(t tool.Tool, in Input) (tool.Call, error) {
	proposal, err := change.Propose(c.Files, t, in, func(in *Input) *string { return &in.NotebookPath })
	if err != nil {
		return nil, err
	}
	mode := in.EditMode
	if mode == "" {
		mode = replaceMode
	}
	switch {
	case !strings.EqualFold(filepath.Ext(proposal.Path()), ".ipynb"):
		return nil, &tool.Error{Code: codeNotNotebook, Text: fmt.Sprintf("%s is not a notebook (.ipynb): change it with Edit.", proposal.Path())}
	case mode == insertMode && in.CellType == "":
		return nil, fmt.Errorf("cell_type is missing: an inserted cell is code or markdown")
	case mode != deleteMode && in.NewSource == nil:
		return nil, &tool.InputError{Err: errors.New("invalid input for NotebookEdit: new_source: required, but missing")}
	case mode != insertMode && in.CellID == "":
		return nil, fmt.Errorf("cell_id is missing: give the id of the cell to %s, as Read shows it", mode)
	}
	return &call{proposal, mode}, nil
}

// A call is a change to a cell.
type call struct {
	change.Proposal[Input]
	mode string
}

func (c *call) Title() string     { return "Edit notebook " + c.Shown() }
func (c *call) Activity() string  { return "Editing notebook " + c.Shown() }
func (c *call) Destructive() bool { return c.mode == deleteMode }

// Preview shows the cell's source before and after.
func (c *call) Preview(context.Context) (tool.Display, error) {
	data, err := c.Peek()
	if err != nil {
		return nil, err
	}
	e := outcome{call: c}
	if _, err := e.plan(data); err != nil {
		return nil, err
	}
	return e.display(), nil
}

// display returns the diff of the cell's source, which is more readable than a diff of the
// file.
func (e *outcome) display() tool.Diff {
	return diff(e.Target.Path, e.old, e.new)
}

// diff returns the change of a cell.
func diff(path, before, after string) tool.Diff {
	hunks, whole := edit.Diff([]byte(before), []byte(after))
	return change.Preview(path, false, hunks, whole)
}
