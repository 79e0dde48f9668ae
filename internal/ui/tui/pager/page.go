package pager

import (
	"maps"
	"slices"

	"adze/internal/commands"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// Page returns the lines of a command page, without the usual display limits.
func Page(page commands.Page, o draw.Options) func(width int) Lines {
	return func(width int) Lines {
		o.Max = 0
		d := &drawn{parts: map[int]bool{}}
		for _, b := range page.Blocks {
			o.Width = width
			if out, ok := b.(commands.Output); ok {
				o.Width = 0 // nothing is cut
				d.parts[len(d.rows)] = isDiff(out.Display)
			}
			d.rows = append(d.rows, draw.Page(commands.Page{Blocks: []commands.Block{b}}, o)...)
		}
		if !slices.Contains(slices.Collect(maps.Values(d.parts)), true) {
			return d.rows
		}
		return d
	}
}

func isDiff(d tool.Display) bool {
	_, ok := d.(tool.Diff)
	return ok
}

// Rows is a list of rows that implements [Lines].
type Rows []draw.Row

// Len implements [Lines].
func (r Rows) Len() int { return len(r) }

// Row implements [Lines].
func (r Rows) Row(i int) draw.Row { return r[i] }

// A drawn page has parts: its diffs.
type drawn struct {
	rows  Rows
	parts map[int]bool // keyed by first line
}

func (d *drawn) Len() int           { return len(d.rows) }
func (d *drawn) Row(i int) draw.Row { return d.rows[i] }
func (d *drawn) Part(i int) bool    { return d.parts[i] }
