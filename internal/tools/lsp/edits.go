package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/agent/exec"
	"adze/internal/lsp"
	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// maxChanged limits the files of a rename or a code action.
const maxChanged = 500

// A fileEdit is the planned change of a file.
type fileEdit struct {
	path     string
	old, new string
	input    editInput // the change as a call of Edit, for rules, hooks and the user
}

// An editInput is an input of Edit.
type editInput struct {
	FilePath string        `json:"file_path"`
	Edits    []replacement `json:"edits"`
}

type replacement struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// apply makes a server's edits. Each file is changed by a call of Edit, which passes the gates like any
// other. Nothing is changed unless all are allowed. If name is given, only text that contains it
// is replaced.
func (c *call) apply(ctx context.Context, e *lsp.WorkspaceEdit, name string) (tool.Result, error) {
	plan, err := c.plan(e, name)
	if err != nil {
		return tool.Result{}, err
	}
	if len(plan) == 0 {
		return tool.Text("The language server has nothing to change."), nil
	}
	gates, afters := c.Gates()
	ex := &exec.Executor{Gates: gates, Afters: afters}
	var admitted []*exec.Pending
	for i, f := range plan {
		input, err := json.Marshal(f.input)
		if err != nil {
			return tool.Result{}, err
		}
		pool, _ := tool.NewRegistry(c.editTool(f)).Assemble(nil, nil)
		p := ex.Bind(pool, msg.NewToolUse(fmt.Sprintf("%s_%d", tool.UseOf(ctx), i+1), c.Edit.Spec().Name, string(input)))
		if !ex.Admit(ctx, p) {
			return tool.Result{}, fmt.Errorf("Nothing was changed, because the change of %s is not allowed: %s", c.shown(f.path), msg.PlainText(p.Refused().Result.Parts))
		}
		admitted = append(admitted, p)
	}
	var b strings.Builder
	var display tool.Changes
	for i, p := range admitted {
		o := ex.Run(ctx, p, func(tool.Progress) {})
		text := strings.TrimSpace(msg.PlainText(o.Result.Parts))
		if o.Result.IsError {
			return tool.Result{}, fmt.Errorf("%d of %d files were changed, then %s failed: %s", i, len(plan), c.shown(plan[i].path), text)
		}
		b.WriteString(text + "\n")
		display = append(display, tool.Diffs(o.Display)...)
	}
	r := tool.Text(strings.TrimSpace(b.String()))
	r.Display = display
	return r, nil
}

// plan returns the changed files by path, with their content now and then.
func (c *call) plan(e *lsp.WorkspaceEdit, name string) ([]fileEdit, error) {
	files, err := e.Files()
	switch {
	case err != nil:
		return nil, err
	case len(files) > maxChanged:
		return nil, fmt.Errorf("the server wants to change %d files; at most %d are changed at a time", len(files), maxChanged)
	}
	var plan []fileEdit
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !c.inside(path) {
			return nil, fmt.Errorf("nothing was changed: the language server wants to edit %s, which is outside the working directories", tool.OneLine(path, maxLine))
		}
		text, err := lsp.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a file that the server wants to change: %w", err)
		}
		list, err := lsp.Replacements(text, files[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.shown(path), err)
		}
		f := fileEdit{path: path, old: text, new: lsp.Apply(text, list), input: editInput{FilePath: path}}
		for _, r := range list {
			old := text[r.Start:r.End]
			if name != "" && !strings.Contains(old, last(name)) {
				return nil, fmt.Errorf("the language server has an outdated view of %s, so nothing was changed; /lsp restart lets it start afresh", c.shown(path))
			}
			f.input.Edits = append(f.input.Edits, replacement{OldString: old, NewString: r.New})
		}
		if f.new != f.old {
			plan = append(plan, f)
		}
	}
	return plan, nil
}

// inside reports whether a file is in a working directory.
func (c *call) inside(path string) bool { return lsp.Shown(path, c.Roots()) != path }

// last returns the last part of a qualified name.
func last(name string) string {
	return name[strings.LastIndexAny(name, ".:>")+1:]
}

// editTool returns an Edit tool for one planned change. It accepts no other input.
func (c *call) editTool(f fileEdit) tool.Tool {
	var t tool.Tool
	spec := c.Edit.Spec()
	want, _ := json.Marshal(f.input) // ok: it was encoded before
	t = tool.NewBound(tool.Def{Name: spec.Name, Doc: spec.Description, Schema: spec.Schema, Traits: c.Edit.Traits()}, func(in editInput) (tool.Call, error) {
		if got, err := json.Marshal(in); err != nil || string(got) != string(want) {
			return nil, errors.New("the change of a language server can be refused, but not changed")
		}
		p, err := change.Propose(c.Files, t, in, func(in *editInput) *string { return &in.FilePath })
		if err != nil {
			return nil, err
		}
		p.Blind = true
		return &editCall{Proposal: p, fileEdit: f}, nil
	})
	return t
}

// An editCall is a planned change.
type editCall struct {
	change.Proposal[editInput]
	fileEdit
}

func (e *editCall) Title() string    { return "Edit " + e.Shown() }
func (e *editCall) Activity() string { return "Editing " + e.Shown() }
func (e *editCall) Path() string     { return e.Proposal.Path() }

// Preview shows the change.
func (e *editCall) Preview(context.Context) (tool.Display, error) {
	hunks, whole := edit.Diff([]byte(e.old), []byte(e.new))
	return change.Preview(e.Target.Path, false, hunks, whole), nil
}

// Run makes the change, unless the file has changed since the request.
func (e *editCall) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	set, err := e.Find()
	if err != nil {
		return tool.Result{}, err
	}
	if set.Info == nil {
		return tool.Result{}, e.Missing()
	}
	done, err := e.Apply(ctx, set, func(old change.OldContent) (change.NewContent, error) {
		if string(old.Data) != e.old {
			return change.NewContent{}, e.Changed()
		}
		fresh := change.NewContent{Pieces: [][]byte{[]byte(e.new)}, Origin: filestate.Edit}
		fresh.Unseen = old.Entry.Path == "" || !old.Entry.Complete
		return fresh, nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	hunks, _ := edit.Diff([]byte(e.old), []byte(e.new))
	r := tool.Text(strings.Join(append([]string{fmt.Sprintf("Edited %s: %s.", e.Shown(), places(len(e.input.Edits)))}, done.Notes...), " "))
	r.Display = change.Display(e.Target.Path, false, hunks)
	return r, nil
}

func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}
