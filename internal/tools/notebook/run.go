package notebook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/fs/filestate"
	format "adze/internal/platform/text/notebook"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Output is the structured result, in a format that hooks and clients know. OriginalFile is nil
// if the file is long; the file history has it under OriginalHash.
type Output struct {
	NotebookPath string  `json:"notebook_path"`
	EditMode     string  `json:"edit_mode"`
	CellID       string  `json:"cell_id"`
	CellType     string  `json:"cell_type"`
	Language     string  `json:"language"`
	OldSource    string  `json:"old_source"`
	NewSource    string  `json:"new_source"`
	OriginalFile *string `json:"original_file"`
	OriginalHash string  `json:"originalHash"`
	ContentHash  string  `json:"contentHash"`
	UserModified bool    `json:"userModified"`
}

// Run changes the cell. Once it has started to write, it is not interrupted.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	set, err := c.Find()
	if err != nil {
		return tool.Result{}, err
	}
	if set.Info == nil {
		return tool.Result{}, c.Missing()
	}
	e := outcome{call: c}
	if e.done, err = c.Apply(ctx, set, e.make); err != nil {
		return tool.Result{}, err
	}
	r := tool.Text(e.text())
	r.Display = e.display()
	r.Structured = Output{
		NotebookPath: c.Target.Path, EditMode: c.mode, CellID: e.id, CellType: e.kind, Language: e.language,
		OldSource: e.old, NewSource: e.new, OriginalFile: e.original, OriginalHash: e.originalHash,
		ContentHash: e.done.Hash, UserModified: c.Proposed != nil,
	}
	return r, nil
}

// Foresee returns an error if the cell cannot be changed.
func (c *call) Foresee(look bool) error {
	edit := (&outcome{call: c}).make
	if look {
		return c.Rehearse(edit)
	}
	return c.Recorded(edit)
}

// An outcome is a call with its change.
type outcome struct {
	*call
	done         change.Outcome
	id, kind     string
	language     string
	old, new     string // source
	original     *string
	originalHash string
}

// make computes the new content.
func (e *outcome) make(old change.OldContent) (change.NewContent, error) {
	switch {
	case !old.Exists:
		return change.NewContent{}, e.Missing()
	case !old.Entry.Complete:
		return change.NewContent{}, e.NotRead(old.Entry)
	}
	e.original, e.originalHash = old.Original()
	pieces, err := e.plan(old.Data)
	if err != nil {
		return change.NewContent{}, err
	}
	return change.NewContent{Pieces: pieces, Origin: filestate.Edit}, nil
}

// plan returns the changed notebook in pieces.
func (e *outcome) plan(data []byte) ([][]byte, error) {
	parsed, b, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a notebook that can be changed: %w. Look at it with a shell command.", e.Target.Path, err)
	}
	e.language = parsed.Language
	at := -1
	if e.In.CellID != "" {
		var ok bool
		if at, ok = b.find(e.In.CellID); !ok {
			return nil, &tool.Error{Code: codeNoCell, Text: fmt.Sprintf("%s has no cell %q. %s", e.Target.Path, e.In.CellID, known(parsed))}
		}
		e.id = parsed.Cells[at].ID
	}
	if e.mode == insertMode {
		e.kind, e.new, e.id = e.In.CellType, e.In.source(), ""
		if b.hasIDs() {
			e.id = freshID(parsed)
		}
		patches := b.insert(at, e.kind, e.new, e.id)
		if e.id == "" {
			e.id = fmt.Sprintf("cell-%d", at+1)
		}
		return b.apply(patches), nil
	}
	cell := parsed.Cells[at]
	e.old, e.kind = cell.Source, cell.Type
	switch {
	case e.mode == deleteMode:
		return b.apply(b.remove(at)), nil
	case e.In.CellType != "" && e.In.CellType != cell.Type:
		e.new, e.kind = e.In.source(), e.In.CellType
		return b.apply(b.retype(at, e.kind, e.new)), nil
	}
	e.new = e.In.source()
	return b.apply(b.replace(at, e.new)), nil
}

// parse parses a notebook's contents and the positions of its cells.
func parse(data []byte) (*format.Notebook, *book, error) {
	parsed, err := format.Parse(data)
	if err != nil {
		return nil, nil, err
	}
	b, err := open(data)
	if err == nil && len(parsed.Cells) != len(b.cells.items) {
		err = errors.New("it has several lists of cells")
	}
	return parsed, b, err
}

// known lists the existing cells.
func known(n *format.Notebook) string {
	const most = 20
	if len(n.Cells) == 0 {
		return "It has no cells at all."
	}
	var ids []string
	for i, c := range n.Cells {
		if i == most {
			ids = append(ids, fmt.Sprintf("and %d more", len(n.Cells)-i))
			break
		}
		ids = append(ids, c.ID)
	}
	return "Its cells are " + strings.Join(ids, ", ") + "."
}

// freshID returns an unused cell ID.
func freshID(n *format.Notebook) string {
	taken := map[string]bool{}
	for _, c := range n.Cells {
		taken[c.ID] = true
	}
	for {
		if id := strings.ToLower(rand.Text()[:8]); !taken[id] {
			return id
		}
	}
}

// text returns the result for the model.
func (e *outcome) text() string {
	var b strings.Builder
	switch e.mode {
	case insertMode:
		fmt.Fprintf(&b, "Inserted the %s cell %s into %s.", e.kind, e.id, e.Target.Path)
	case deleteMode:
		fmt.Fprintf(&b, "Deleted the cell %s from %s.", e.id, e.Target.Path)
	default:
		fmt.Fprintf(&b, "Replaced the source of the cell %s in %s.", e.id, e.Target.Path)
	}
	for _, note := range e.done.Notes {
		b.WriteString(" " + note)
	}
	if e.Proposed != nil {
		b.WriteString("\nThe user changed your proposal before it was written.")
		proposed, _ := json.Marshal(struct{ Input }{*e.Proposed}) // ok: it came from JSON
		if e.Proposed.source() == e.In.source() {
			fmt.Fprintf(&b, " You proposed %s.", proposed)
		}
		b.WriteString(change.Difference("new_source", e.Proposed.source(), e.In.source()))
	}
	return b.String()
}

// redisplay returns the change of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	var out Output
	if json.Unmarshal(structured, &out) != nil || out.NotebookPath == "" {
		return nil
	}
	return diff(out.NotebookPath, out.OldSource, out.NewSource)
}
