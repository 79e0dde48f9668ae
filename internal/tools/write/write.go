// Package write implements the tool that creates or overwrites a file.
package write

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Name is the tool's name.
const Name = "Write"

// Config configures the tool.
type Config struct{ Files *change.Files }

//go:embed write.md
var doc string

//go:embed write.zh.md
var chinese string

//go:embed write.schema.json
var inputSchema string

//go:embed write.output.json
var outputSchema string

// Input is the tool's input.
type Input struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

// Draft lets the user edit the content.
func (Input) Draft() tool.Draft { return tool.Draft{Field: "content"} }

// Output is the structured result, in a format that hooks and clients know. OriginalFile is nil
// if the file was new or is long; the file history has it under OriginalHash.
type Output struct {
	Type            string      `json:"type"`
	FilePath        string      `json:"filePath"`
	Content         string      `json:"content"`
	OriginalFile    *string     `json:"originalFile"`
	OriginalHash    string      `json:"originalHash"`
	ContentHash     string      `json:"contentHash"`
	StructuredPatch []tool.Hunk `json:"structuredPatch"`
	PatchTruncated  bool        `json:"patchTruncated"`
	UserModified    bool        `json:"userModified"`
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
			Params:    tool.Params{Paths: []string{"file_path"}, Texts: []string{"content"}},
			Translate: tool.InChinese(chinese),
			Hint:      "create or replace a whole file",
			MaxChars:  100_000,
			Clearable: true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Restore:   c.Files.Restore,
			Redisplay: change.Redisplay,
			Enabled:   c.Files.Enabled,
		},
	}, func(in Input) (tool.Call, error) {
		proposal, err := change.Propose(c.Files, t, in, func(in *Input) *string { return &in.FilePath })
		if err != nil {
			return nil, err
		}
		return &call{proposal}, nil
	})
	return t
}

// A call is a write to a file.
type call struct{ change.Proposal[Input] }

func (c *call) Title() string    { return "Write " + c.Shown() }
func (c *call) Activity() string { return "Writing " + c.Shown() }

// updates reports whether the call replaces a file, as far as the conversation knows.
func (c *call) updates() bool {
	_, known := c.Known()
	return known
}

// Destructive returns true for an existing file: its old content remains only in the file
// history.
func (c *call) Destructive() bool { return c.updates() }

func (c *call) DisplayName() string {
	if c.updates() {
		return "Update"
	}
	return "Write"
}

// Foresee returns an error if the file cannot be written.
func (c *call) Foresee(look bool) error {
	if !look {
		return nil // the existence of the file is not recorded
	}
	return c.Rehearse((&outcome{call: c}).make)
}

// Preview shows the diff to the current content.
func (c *call) Preview(context.Context) (tool.Display, error) {
	data, err := c.Peek()
	if err != nil {
		return nil, err
	}
	fresh, _ := edit.Recode(data, c.In.Content)
	hunks, whole := edit.Diff(data, fresh)
	return change.Preview(c.Target.Path, data == nil, hunks, whole), nil
}

// Run writes the file. Once it has started to write, it is not interrupted.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	set, err := c.Find()
	if err != nil {
		return tool.Result{}, err
	}
	w := outcome{call: c}
	if w.done, err = c.Apply(ctx, set, w.make); err != nil {
		return tool.Result{}, err
	}
	return w.result(), nil
}

// An outcome is a call with its change.
type outcome struct {
	*call
	done         change.Outcome
	original     *string
	originalHash string
	existed      bool
	same         bool // content is the same; nothing was written
	foreign      bool // the old encoding was unknown
	hunks        []edit.Hunk
	truncated    bool
}

// make computes the new content.
func (w *outcome) make(old change.OldContent) (change.NewContent, error) {
	if old.Exists && !old.Entry.Complete {
		return change.NewContent{}, w.NotRead(old.Entry)
	}
	w.existed = old.Exists
	w.original, w.originalHash = old.Original()
	data, foreign := edit.Recode(old.Data, w.In.Content)
	if old.Exists && bytes.Equal(data, old.Data) {
		w.same = true
		return change.NewContent{}, nil
	}
	w.foreign = foreign
	hunks, whole := edit.Diff(old.Data, data)
	w.hunks, w.truncated = hunks, !whole
	return change.NewContent{Pieces: [][]byte{data}, Origin: filestate.Write}, nil
}

func (w *outcome) result() tool.Result {
	r := tool.Text(w.text())
	shown := change.Display(w.Target.Path, w.done.Created, w.hunks)
	r.Display = shown
	kind := "create"
	if w.existed {
		kind = "update"
	}
	if w.same {
		w.done.Hash = w.originalHash
	}
	r.Structured = Output{
		Type: kind, FilePath: w.Target.Path, Content: w.In.Content,
		OriginalFile: w.original, OriginalHash: w.originalHash, ContentHash: w.done.Hash,
		StructuredPatch: shown.Hunks, PatchTruncated: w.truncated, UserModified: w.Proposed != nil,
	}
	return r
}

// text returns the result for the model.
func (w *outcome) text() string {
	var b strings.Builder
	switch {
	case w.same:
		fmt.Fprintf(&b, "%s already holds exactly this content, so it was not touched.", w.Shown())
	case w.existed:
		fmt.Fprintf(&b, "Updated %s.", w.Shown())
	default:
		fmt.Fprintf(&b, "Created %s.", w.Shown())
	}
	if w.foreign {
		b.WriteString(" It was in an encoding that is not UTF-8, and is UTF-8 now.")
	}
	for _, note := range w.done.Notes {
		b.WriteString(" " + note)
	}
	if w.Proposed != nil {
		b.WriteString("\nThe user changed your proposal before it was written.")
		if w.Proposed.FilePath != w.In.FilePath {
			b.WriteString(" It went to another file.")
		}
		b.WriteString(change.Difference("content", w.Proposed.Content, w.In.Content))
	}
	return b.String()
}
