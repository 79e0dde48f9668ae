package draw

import (
	"cmp"
	"fmt"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Outcome summarizes the outcome of a call.
func Outcome(d tool.Display, r *msg.ToolResult) string {
	switch d := d.(type) {
	case tool.Output:
		switch {
		case Runs(d):
			return d.Note
		case d.Exit != nil && *d.Exit != 0:
			return fmt.Sprintf("exit code %d, %s", *d.Exit, count(d.Lines, "lines"))
		case d.Lines == 0:
			return "done"
		}
		return count(d.Lines, "lines")
	case tool.File:
		return count(d.Count, "lines")
	case tool.Diff:
		if d.Created {
			return "created, " + count(d.Added, "lines")
		}
		return fmt.Sprintf("+%d -%d", d.Added, d.Removed)
	case tool.Changes:
		added, removed := 0, 0
		for _, one := range d {
			added, removed = added+one.Added, removed+one.Removed
		}
		return fmt.Sprintf("%s, +%d -%d", count(len(d), "files"), added, removed)
	case tool.List:
		return count(d.Total, cmp.Or(d.Unit, "items"))
	case tool.Checklist:
		return fmt.Sprintf("%d of %d done", d.Count(tool.Done), len(d))
	case tool.Plain:
		return tool.OneLine(d.Text, 120)
	}
	if r == nil {
		return "done"
	}
	return tool.OneLine(msg.PlainText(r.Parts), 120)
}

// Runs reports whether a command is still running and has a note that describes its state.
func Runs(d tool.Output) bool { return d.Exit == nil && d.Note != "" }
