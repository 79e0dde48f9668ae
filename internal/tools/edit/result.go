package edit

import (
	"fmt"
	"strings"

	engine "adze/internal/platform/text/edit"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Output is the structured result, in a format that hooks and clients know. OriginalFile is nil
// if the file is long; the file history has it under OriginalHash.
type Output struct {
	FilePath        string      `json:"filePath"`
	OldString       string      `json:"oldString"`
	NewString       string      `json:"newString"`
	OriginalFile    *string     `json:"originalFile"`
	OriginalHash    string      `json:"originalHash"`
	ContentHash     string      `json:"contentHash"`
	StructuredPatch []tool.Hunk `json:"structuredPatch"`
	PatchTruncated  bool        `json:"patchTruncated"`
	UserModified    bool        `json:"userModified"`
	ReplaceAll      bool        `json:"replaceAll"`
	Occurrences     int         `json:"occurrences"`
}

func (e *outcome) result() tool.Result {
	r := tool.Text(e.text())
	shown := change.Display(e.Target.Path, e.done.Created, e.hunks)
	r.Display = shown
	r.Structured = Output{
		FilePath: e.Target.Path, OldString: e.old, NewString: e.new,
		OriginalFile: e.original, OriginalHash: e.originalHash, ContentHash: e.done.Hash,
		StructuredPatch: shown.Hunks, PatchTruncated: e.truncated,
		UserModified: e.Proposed != nil, ReplaceAll: e.replacesAll(), Occurrences: e.count,
	}
	return r
}

// text returns the result for the model.
func (e *outcome) text() string {
	var b strings.Builder
	switch {
	case e.done.Created:
		fmt.Fprintf(&b, "Created %s.", e.Shown())
	case len(e.edits) > 1:
		fmt.Fprintf(&b, "Edited %s: made %d edits.", e.Shown(), len(e.edits))
	case e.count > 1:
		fmt.Fprintf(&b, "Edited %s: replaced %d occurrences.", e.Shown(), e.count)
	default:
		fmt.Fprintf(&b, "Edited %s.", e.Shown())
	}
	for _, note := range e.done.Notes {
		b.WriteString(" " + note)
	}
	switch {
	case e.blanks && e.adapted:
		b.WriteString(" The file and old_string differ in blanks at line ends; lines that you did not change keep theirs. It now reads:\n")
		b.WriteString(around(e.hunks))
	case e.blanks:
		b.WriteString(" The file and old_string differ in blanks at line ends.")
	case e.adapted:
		b.WriteString(" The quotation marks or line ends of new_string were adapted to the file. It now reads:\n")
		b.WriteString(around(e.hunks))
	}
	if e.Proposed != nil {
		b.WriteString("\n" + e.difference())
	}
	return b.String()
}

const (
	// aroundLines is the number of lines shown for each change, aroundHunks the number of
	// changes shown.
	aroundLines = 8
	aroundHunks = 10
)

// around returns the current lines at each change with their numbers.
func around(hunks []engine.Hunk) string {
	var b strings.Builder
	for i, h := range hunks {
		if i == aroundHunks {
			fmt.Fprintf(&b, "(and %d more places)\n", len(hunks)-i)
			break
		}
		if i > 0 {
			b.WriteString("...\n")
		}
		line, shown := h.NewStart, 0
		for j, text := range h.Lines {
			if text[0] == '-' {
				continue
			}
			if shown < aroundLines && near(h.Lines, j) {
				fmt.Fprintf(&b, "%d\t%s\n", line, text[1:])
				shown++
			}
			line++
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// near reports whether line i is at most one line away from a change.
func near(lines []string, i int) bool {
	for _, line := range lines[max(i-1, 0):min(i+2, len(lines))] {
		if line[0] != ' ' {
			return true
		}
	}
	return false
}

// difference describes the user's changes to the proposal.
func (e *outcome) difference() string {
	text := "The user changed your proposal before it was written."
	was, err := e.Proposed.replacements()
	if err != nil || len(was) != 1 || len(e.edits) != 1 {
		return text + " Read the file to see it."
	}
	if was[0].OldString != e.edits[0].OldString || was[0].ReplaceAll != e.edits[0].ReplaceAll || e.Proposed.FilePath != e.In.FilePath {
		text += " The replaced text or its position changed as well: read the file to see it."
	}
	return text + change.Difference("new_string", was[0].NewString, e.edits[0].NewString)
}
