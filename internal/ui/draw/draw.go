// Package draw renders tool displays and command pages as rows of text for every front end. It
// is independent of specific tools and commands. A [Palette] sanitizes and styles rows.
package draw

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/term"
	"adze/internal/platform/term/cells"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

// Options control rendering. The zero value renders everything, on rows of any length.
type Options struct {
	// Width is the line width, and Max the maximum number of content lines; 0 means no limit.
	Width, Max int
	// Dir is the working directory. Paths in it are shown relative to it.
	Dir string
	// More describes how to see the omitted output; it may be empty.
	More string
	// Glyphs are the marks; the zero value means [Unicode].
	Glyphs Glyphs
	// If Proposed is true, the change has not been made and is shown for approval.
	Proposed bool
}

func (o Options) marks() Glyphs {
	if o.Glyphs == (Glyphs{}) {
		return Unicode()
	}
	return o.Glyphs
}

// Rows renders d.
func Rows(d tool.Display, o Options) []Row {
	switch d := d.(type) {
	case tool.Plain:
		if o.Proposed {
			d.Text = term.SpellControls(d.Text)
		}
		lines := split(d.Text)
		return o.shorten(lines, len(lines), "lines")
	case tool.Output:
		return o.output(d)
	case tool.File:
		return []Row{o.cut(Faint, o.file(d))}
	case tool.Diff:
		return o.diff(d)
	case tool.Changes:
		var rows []Row
		for _, one := range d {
			rows = append(rows, o.diff(one)...)
		}
		return rows
	case tool.List:
		return o.list(d)
	case tool.Checklist:
		return o.checklist(d)
	}
	return nil
}

// shorten renders the first lines and notes how many of total are omitted. Unit is the plural
// of the counted noun.
func (o Options) shorten(lines []string, total int, unit string) []Row {
	shown := lines
	if o.Max > 0 && len(shown) > o.Max {
		shown = shown[:o.Max]
	}
	out := make([]Row, 0, len(shown)+1)
	for _, line := range shown {
		out = append(out, o.cut(Text, line))
	}
	if left := total - len(shown); left > 0 {
		out = append(out, o.cut(Faint, o.marks().More+" "+count(left, "more "+unit)))
	}
	return out
}

// output renders the end of a command's output, because that is where commands report their
// result.
func (o Options) output(d tool.Output) []Row {
	lines := split(d.Text)
	shown := lines
	if o.Max > 0 && len(shown) > o.Max {
		shown = shown[len(shown)-o.Max:]
	}
	var out []Row
	if left := max(d.Lines, len(lines)) - len(shown); left > 0 {
		text := o.marks().More + " " + count(left, "earlier lines")
		if d.File != "" {
			text += " in " + o.path(d.File)
		} else if len(shown) < len(lines) {
			text += o.More
		}
		out = append(out, o.cut(Faint, text))
	}
	for _, line := range shown {
		out = append(out, o.cut(Text, line))
	}
	switch {
	case d.Note != "":
		out = append(out, o.cut(Bad, d.Note+after(d.Elapsed)))
	case d.Exit != nil && *d.Exit != 0:
		out = append(out, o.cut(Bad, fmt.Sprintf("exit code %d%s", *d.Exit, after(d.Elapsed))))
	}
	return out
}

func after(d time.Duration) string {
	if d < 100*time.Millisecond {
		return ""
	}
	return " after " + d.Round(100*time.Millisecond).String()
}

func (o Options) file(d tool.File) string {
	if d.Count == d.Len {
		return fmt.Sprintf("%s of %s", count(d.Count, "lines"), o.path(d.Path))
	}
	return fmt.Sprintf("lines %d to %d of %d of %s", d.First, d.First+d.Count-1, d.Len, o.path(d.Path))
}

func (o Options) path(path string) string {
	if rel, err := filepath.Rel(o.Dir, path); o.Dir != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (o Options) list(d tool.List) []Row {
	unit := d.Unit
	if unit == "" {
		unit = "items"
	}
	if len(d.Items) == 0 {
		return []Row{o.cut(Faint, "no "+unit)}
	}
	rows := o.shorten(d.Items, max(d.Total, len(d.Items)), unit)
	for i, marks := range d.Marks {
		if i < len(d.Items) && (o.Max == 0 || i < o.Max) && len(marks) > 0 {
			rows[i] = o.marked(d.Items[i], marks)
		}
	}
	return rows
}

// marked returns a line with the matches of a search highlighted.
func (o Options) marked(text string, marks []tool.Mark) Row {
	var row Row
	from := 0
	for _, m := range marks {
		if m.From < from || m.To > len(text) || m.To <= m.From {
			continue
		}
		row = append(row, Span{Role: Text, Text: Clean(text[from:m.From])}, Span{Role: Accent, Text: Clean(text[m.From:m.To])})
		from = m.To
	}
	if row = append(row, Span{Role: Text, Text: Clean(text[from:])}); o.Width > 0 {
		return row.Cut(o.Width, o.marks().More)
	}
	return row
}

// checklist renders a checklist. If it does not fit, items in progress and to do come before
// finished ones.
func (o Options) checklist(d tool.Checklist) []Row {
	left := 0
	if o.Max > 0 && len(d) > o.Max {
		left = len(d) - o.Max
		d = slices.Clone(d)
		slices.SortStableFunc(d, func(a, b tool.Check) int { return rankOf(a.State) - rankOf(b.State) })
		d = d[:o.Max]
	}
	var out []Row
	marks := o.marks()
	for _, c := range d {
		mark, role := marks.Dot, Text
		switch c.State {
		case tool.Doing:
			mark, role = marks.Active, Strong
		case tool.Done:
			mark, role = marks.Done, Faint
		}
		text := mark + " " + c.Text
		if c.Note != "" {
			text += " (" + c.Note + ")"
		}
		out = append(out, o.cut(role, text))
	}
	if left > 0 {
		out = append(out, o.cut(Faint, fmt.Sprintf("%s and %d more", marks.More, left)))
	}
	return out
}

// rankOf orders states by their relevance to a reader.
func rankOf(s tool.CheckState) int { return [...]int{tool.ToDo: 1, tool.Doing: 0, tool.Done: 2}[s] }

// cut returns a line of text cut to the width.
func (o Options) cut(role Role, text string) Row {
	text = Clean(text)
	if o.Width > 0 {
		text = cells.Cut(text, o.Width, o.marks().More)
	}
	return Line(role, text)
}

// split returns the lines of text, without trailing empty lines.
func split(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// count returns a number with its unit, which is given in the plural.
func count(n int, unit string) string { return amount.Of(n, strings.TrimSuffix(unit, "s"), unit) }

func number(n int) string { return strconv.Itoa(n) }
