package edit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	engine "adze/internal/platform/edit"
	"adze/internal/platform/filestate"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Run carries out the edit. Once it has begun to write it is not interrupted.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	set, err := c.Find()
	if err != nil {
		return tool.Result{}, err
	}
	if set.Info == nil && c.In.OldString != "" {
		return tool.Result{}, c.Missing()
	}
	e := outcome{call: c}
	e.done, err = c.Apply(ctx, set, e.make)
	if err != nil {
		return tool.Result{}, err
	}
	return e.result(), nil
}

// An outcome is a call with the change it made.
type outcome struct {
	*call
	done         change.Done
	original     *string
	originalHash string
	old, new     string // as they are in the file
	count        int
	adapted      bool
	blanks       bool
	hunks        []engine.Hunk
	truncated    bool
}

// make works out the new content.
func (e *outcome) make(old change.Old) (change.New, error) {
	e.original, e.originalHash = old.Original()
	if e.In.OldString == "" {
		return e.create(old)
	}
	if !old.Exists {
		return change.New{}, e.Missing()
	}
	if old.Entry.Path == "" {
		return change.New{}, e.NotRead(old.Entry)
	}
	plan, err := engine.Find(old.Data, e.request())
	if err != nil {
		return change.New{}, e.refusal(err)
	}
	fresh := change.New{Pieces: plan.Pieces(), Origin: filestate.Edit}
	if !old.Entry.Complete {
		if !e.covered(old.Entry, plan) {
			return change.New{}, e.NotRead(old.Entry)
		}
		fresh.Seen, fresh.Total = shifted(old.Entry, plan)
	}
	e.old, e.new, e.count, e.adapted = plan.Old, plan.New, len(plan.Matches), plan.Adapted
	e.blanks = plan.Blanks
	hunks, whole := plan.Hunks()
	e.hunks, e.truncated = hunks, !whole
	return fresh, nil
}

// create makes a file, or fills an empty one.
func (e *outcome) create(old change.Old) (change.New, error) {
	if len(old.Data) > 0 {
		return change.New{}, &tool.Error{Code: codeNotEmpty, Text: fmt.Sprintf("%s exists and is not empty, so it cannot be created. Give the text to replace as old_string, or replace the whole file with Write.", e.Target.Path)}
	}
	e.new = e.In.NewString
	hunks, whole := engine.Diff(nil, []byte(e.new))
	e.hunks, e.truncated = hunks, !whole
	return change.New{Pieces: [][]byte{[]byte(e.new)}, Origin: filestate.Edit}, nil
}

// covered reports whether all that is replaced was seen.
func (e *outcome) covered(known filestate.Entry, plan *engine.Plan) bool {
	if e.wholeOnly || known.Origin == filestate.Injected {
		return false
	}
	for _, lines := range plan.Lines() {
		if !filestate.Covers(known.Seen, lines[0], lines[1]) {
			return false
		}
	}
	return true
}

// shifted returns which lines are known after the edit, and how many there are.
func shifted(known filestate.Entry, plan *engine.Plan) ([]filestate.Span, int) {
	var changes []filestate.Change
	total := known.Total
	for _, c := range plan.Changed() {
		changes = append(changes, filestate.Change(c))
		total += c.New - c.Old
	}
	return filestate.Shift(known.Seen, changes), total
}

// refusal turns an error of the search into one for the model.
func (c *call) refusal(err error) error {
	var missing *engine.NotFound
	var several *engine.Ambiguous
	switch {
	case errors.As(err, &missing):
		return &tool.Error{Code: codeNotFound, Text: c.notFound(missing)}
	case errors.As(err, &several):
		return &tool.Error{Code: codeAmbiguous, Text: ambiguous(several)}
	case errors.Is(err, engine.ErrSame):
		return &tool.Error{Code: codeSame, Text: fmt.Sprintf("%s already reads as new_string says: there is nothing to change.", c.Target.Path)}
	}
	return fmt.Errorf("editing %s: %w", c.Target.Path, err)
}

func (c *call) notFound(missing *engine.NotFound) string {
	text := fmt.Sprintf("old_string was not found in %s.", c.Target.Path)
	switch slip, near := missing.Slip, missing.Near; {
	case slip.Numbered:
		return text + " It has the line numbers that Read shows, which are not part of the file: leave out each number and the tab after it, in new_string too."
	case slip.Escaped == "n":
		return text + ` The file has a line end where old_string has a backslash and an n: send a real line end.`
	case slip.Escaped == "t":
		return text + ` The file has a tab where old_string has a backslash and a t: send a real tab.`
	case slip.Escaped != "":
		return text + fmt.Sprintf(` The file has %s where old_string has \%s: send it as it is in the file, in new_string too.`, slip.Escaped, slip.Escaped)
	case near == nil:
		return text + " Read the file again and copy the text exactly."
	}
	near := missing.Near
	if near.Space {
		text += fmt.Sprintf(" At line %d there is the same text but for white space (%s):", near.Line, near.How)
	} else {
		text += fmt.Sprintf(" The closest is at line %d:", near.Line)
	}
	for i, line := range near.Text {
		text += fmt.Sprintf("\n%6d\t%s", near.Line+i, line)
	}
	return text
}

func ambiguous(e *engine.Ambiguous) string {
	var lines []string
	for _, n := range e.Lines {
		lines = append(lines, fmt.Sprint(n))
	}
	where := strings.Join(lines, ", ")
	if e.Count > len(e.Lines) {
		where += " and more"
	}
	return fmt.Sprintf("old_string was found %d times, in lines %s. Give more of the text around the one you mean, or set replace_all to change them all.", e.Count, where)
}
