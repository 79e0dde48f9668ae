package transcript

import (
	"adze/internal/commands"
	"adze/internal/ui/draw"
)

// Greet shows the introduction of a conversation.
func (r *record) Greet(g commands.Greeting) { r.put(&greeting{g}) }

// A greeting is the introduction of a conversation: a header, how to get help, and notes.
type greeting struct{ commands.Greeting }

func (g *greeting) group() group                        { return noteGroup }
func (g *greeting) take(v view, closed bool) []draw.Row { return g.rows(v) }
func (g *greeting) live(v view, closed bool) []draw.Row { return g.rows(v) }
func (g *greeting) whole(v view) []section              { return sections(g.rows(v)) }

func (g *greeting) rows(v view) []draw.Row {
	dot := " " + v.Glyphs.Dot + " "
	place := g.Dir
	switch {
	case g.Branch != "" && v.Glyphs.Branch == "":
		place += " (" + g.Branch + ")"
	case g.Branch != "":
		place += " " + v.Glyphs.Branch + g.Branch
	}
	head := draw.Row{{Role: draw.Title, Text: draw.Clean(g.Program)}}
	before := "  "
	for _, span := range []draw.Span{{Text: g.Model}, {Role: draw.Faint, Text: place}, {Role: draw.Warning, Text: g.mode()}} {
		if span.Text = draw.Clean(span.Text); span.Text == "" {
			continue
		}
		head = append(head, draw.Span{Role: draw.Faint, Text: before}, span)
		before = dot
	}
	rows := draw.Wrap(head, v.w, nil)
	var help draw.Row
	if g.Invitation != "" {
		help = draw.Row{{Text: g.Invitation + "   "}}
	}
	if g.Help != "" {
		rows = append(rows, draw.Wrap(append(help, draw.Span{Role: draw.Faint, Text: g.Help}), v.prose, nil)...)
	}
	if g.Notes != "" {
		rows = append(rows, draw.Fill(draw.Text, g.Notes, v.prose)...)
	}
	return rows
}

// mode returns the permission mode, unless it is the default.
func (g *greeting) mode() string {
	if g.Mode == "" {
		return ""
	}
	return "permission mode " + g.Mode
}
