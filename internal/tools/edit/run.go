package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/fs/filestate"
	engine "adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Run applies the edit. Once it has started to write, it is not interrupted.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	set, err := c.Find()
	if err != nil {
		return tool.Result{}, err
	}
	if set.Info == nil && !c.creates() {
		return tool.Result{}, c.Missing()
	}
	e := outcome{call: c}
	e.done, err = c.Apply(ctx, set, e.make)
	if err != nil {
		return tool.Result{}, err
	}
	return e.result(), nil
}

// An outcome is a call with its change.
type outcome struct {
	*call
	done         change.Outcome
	original     *string
	originalHash string
	old, new     string // text as it is in the file
	count        int
	adapted      bool
	blanks       bool
	hunks        []engine.Hunk
	truncated    bool
}

// make computes the new content.
func (e *outcome) make(old change.OldContent) (change.NewContent, error) {
	e.original, e.originalHash = old.Original()
	if e.creates() {
		return e.create(old)
	}
	if !old.Exists {
		return change.NewContent{}, e.Missing()
	}
	known := old.Entry
	if known.Path == "" && (e.wholeOnly || e.Secret()) {
		return change.NewContent{}, e.NotRead(known)
	}
	pieces, err := e.apply(old.Data, &known)
	if err != nil {
		return change.NewContent{}, err
	}
	fresh := change.NewContent{Pieces: pieces, Origin: filestate.Edit}
	if !known.Complete {
		fresh.Seen, fresh.Total = known.Seen, known.Total
	}
	return fresh, nil
}

// apply applies the edits in order, each to the result of the previous one. It returns the new
// content and updates the known lines in known. A nil known means the whole file.
func (e *outcome) apply(data []byte, known *filestate.Entry) (pieces [][]byte, err error) {
	before := data
	for i, r := range e.edits {
		plan, err := engine.Find(data, r.request())
		if err != nil {
			return nil, e.refusal(i, err)
		}
		if known != nil && !known.Complete {
			if err := e.learn(known, plan); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			e.old, e.new = plan.Old, plan.New
		}
		e.count += len(plan.Matches)
		e.adapted, e.blanks = e.adapted || plan.Adapted, e.blanks || plan.Blanks
		pieces = plan.Pieces()
		if len(e.edits) == 1 {
			hunks, whole := plan.Hunks()
			e.hunks, e.truncated = hunks, !whole
			return pieces, nil
		}
		data = bytes.Join(pieces, nil)
	}
	if bytes.Equal(before, data) {
		return nil, &tool.Error{Code: codeSame, Text: "The edits undo each other: there is nothing to change."}
	}
	hunks, whole := engine.Diff(before, data)
	e.hunks, e.truncated = hunks, !whole
	return [][]byte{data}, nil
}

// create creates a file, or fills an empty one.
func (e *outcome) create(old change.OldContent) (change.NewContent, error) {
	if len(old.Data) > 0 {
		return change.NewContent{}, &tool.Error{Code: codeNotEmpty, Text: fmt.Sprintf("%s exists and is not empty, so it cannot be created. Give the text to replace as old_string, or replace the whole file with Write.", e.Target.Path)}
	}
	e.new = e.edits[0].NewString
	hunks, whole := engine.Diff(nil, []byte(e.new))
	e.hunks, e.truncated = hunks, !whole
	return change.NewContent{Pieces: [][]byte{[]byte(e.new)}, Origin: filestate.Edit}, nil
}

// learn updates known to the lines known after the edit. It rejects an edit of text that the
// model does not know: it must have seen the lines, or old_string must match exactly once.
func (e *outcome) learn(known *filestate.Entry, plan *engine.Plan) error {
	unseen := e.unseen(*known, plan)
	if unseen != nil && (e.wholeOnly || len(plan.Matches) > 1 || plan.Folded || plan.Blanks) {
		if len(unseen) > maxUnseen || e.wholeOnly {
			return e.NotRead(*known)
		}
		return e.NotSeen(unseen)
	}
	if known.Total == 0 {
		known.Total = plan.Total()
	}
	var changes []filestate.Change
	for _, c := range plan.Changed() {
		changes = append(changes, filestate.Change(c))
		known.Total += c.New - c.Old
	}
	if unseen != nil { // old_string may be only a part of its lines
		known.Seen = filestate.Move(known.Seen, changes)
	} else {
		known.Seen = filestate.Shift(known.Seen, changes)
	}
	return nil
}

// maxUnseen is the maximum number of places named in an error.
const maxUnseen = 3

// unseen returns the replaced lines that were not seen.
func (e *outcome) unseen(known filestate.Entry, plan *engine.Plan) []filestate.Span {
	var unseen []filestate.Span
	for _, lines := range plan.Lines() {
		if e.wholeOnly || known.Origin == filestate.Injected || !filestate.Covers(known.Seen, lines[0], lines[1]) {
			unseen = append(unseen, filestate.Span{First: lines[0], Last: lines[1]})
		}
	}
	return unseen
}

// refusal converts a search error to an error for the model.
func (c *call) refusal(i int, err error) error {
	which := nth(c.edits, i)
	var missing *engine.NotFound
	var several *engine.Ambiguous
	switch {
	case errors.As(err, &missing):
		return &tool.Error{Code: codeNotFound, Text: which + c.notFound(c.edits[i].OldString, missing)}
	case errors.As(err, &several):
		return &tool.Error{Code: codeAmbiguous, Text: which + ambiguous(several)}
	case errors.Is(err, engine.ErrSame):
		return &tool.Error{Code: codeSame, Text: which + fmt.Sprintf("%s already reads as new_string says: there is nothing to change.", c.Target.Path)}
	}
	return &tool.Error{Text: which + fmt.Sprintf("%s was not changed: %v.", c.Target.Path, err)}
}

func (c *call) notFound(old string, missing *engine.NotFound) string {
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
	case strings.Contains(old, "\uFFFD"):
		return text + " It contains \uFFFD, which stands for bytes that are not characters: choose text without it."
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
		text += fmt.Sprintf("\n%d\t%s", near.Line+i, line)
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
