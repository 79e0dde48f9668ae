// Package status draws the row below the composer: mode, model, context, cost and branch of the
// session, or the output of the user's status line command.
package status

import (
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
)

// A Bar is the status row. The zero value shows nothing.
type Bar struct {
	Glyphs draw.Glyphs
	// Session is the session state to show.
	Session commands.Glance
	// Request is the state of the branch's pull request.
	Request commands.Request
	// Custom is the output of the user's status line command, which may contain styles. If not
	// empty, it replaces everything except a non-default mode.
	Custom string
	// Typing is an incomplete chord or vim command, shown at the end of the row.
	Typing string
	// Note temporarily replaces everything else; it may be empty.
	Note string
}

// margin is the left margin in cells.
const margin = 2

// Rows draws at most h rows of at most w cells.
func (b *Bar) Rows(w, h int) ([]draw.Row, *screen.Point) {
	if h < 1 || w <= margin {
		return nil, nil
	}
	room := w - margin
	typing := cells.Cut(draw.Clean(b.Typing), room, b.Glyphs.More)
	if typing != "" {
		room -= cells.Width(typing) + 2
	}
	row := append(draw.Blanks(margin), b.left(max(0, room))...)
	if typing != "" {
		row = append(row, draw.Span{Text: strings.Repeat(" ", max(0, w-row.Width()-cells.Width(typing)))}, draw.Span{Role: draw.Accent, Text: typing})
	}
	if strings.TrimSpace(row.String()) == "" {
		return nil, nil
	}
	return []draw.Row{row}, nil
}

// left returns everything except Typing, in at most room cells.
func (b *Bar) left(room int) draw.Row {
	switch {
	case b.Note != "":
		return b.cut(draw.Line(draw.Text, draw.Clean(b.Note)), room)
	case b.Custom != "":
		row := draw.Styled(b.Custom)
		if mode := b.mode(); mode.Role != draw.Faint {
			row = append(draw.Row{mode, b.dot()}, row...)
		}
		return b.cut(row, room)
	}
	return b.usual(room)
}

// A part is a part of the row. Parts with the lowest rank are dropped first.
type part struct {
	draw.Span
	rank int
}

// usual returns the state of the session. Parts that do not fit are dropped, the branch first
// and the mode last.
func (b *Bar) usual(room int) draw.Row {
	s := b.Session
	parts := []part{{b.mode(), 5}, {faint(s.Model), 2}, {b.context(), 4}, {faint(s.Cost), 3}, {faint(b.branch()), 0}, {b.request(), 1}}
	for least := 0; ; least++ {
		var row draw.Row
		for _, p := range parts {
			if p.Text == "" || p.rank < least {
				continue
			}
			if len(row) > 0 {
				row = append(row, b.dot())
			}
			row = append(row, p.Span)
		}
		if row.Width() <= room || least == 5 {
			return b.cut(row, room)
		}
	}
}

func faint(text string) draw.Span { return draw.Span{Role: draw.Faint, Text: draw.Clean(text)} }

func (b *Bar) dot() draw.Span { return draw.Span{Role: draw.Faint, Text: " " + b.Glyphs.Dot + " "} }

// cut returns a row of at most room cells.
func (b *Bar) cut(row draw.Row, room int) draw.Row {
	if row.Width() <= room {
		return row
	}
	more := cells.Width(b.Glyphs.More)
	if room <= more {
		return nil
	}
	var out draw.Row
	for left := room - more; left > 0 && len(row) > 0; row = row[1:] {
		s := row[0]
		s.Text = fit(s.Text, left)
		left -= cells.Width(s.Text)
		out = append(out, s)
		if s.Text != row[0].Text {
			break
		}
	}
	return append(out, draw.Span{Role: draw.Faint, Text: b.Glyphs.More})
}

// fit returns the longest prefix of text that takes at most n cells.
func fit(text string, n int) string {
	for i, r := range text {
		if n -= cells.Of(r); n < 0 {
			return text[:i]
		}
	}
	return text
}

// mode returns a short name of the permission mode. A non-default mode stands out.
func (b *Bar) mode() draw.Span {
	switch b.Session.Mode {
	case "":
		return draw.Span{}
	case "default":
		return draw.Span{Role: draw.Faint, Text: "ask"}
	case "acceptEdits":
		return draw.Span{Role: draw.Accent, Text: "accept edits"}
	case "dontAsk":
		return draw.Span{Role: draw.Accent, Text: "do not ask"}
	case "bypassPermissions":
		return draw.Span{Role: draw.Bad, Text: "bypass"}
	}
	return draw.Span{Role: draw.Accent, Text: draw.Clean(b.Session.Mode)}
}

// request returns the state of the pull request.
func (b *Bar) request() draw.Span {
	role := [...]draw.Role{commands.Neutral: draw.Faint, commands.Well: draw.Good, commands.Ill: draw.Bad}[b.Request.Mood]
	return draw.Span{Role: role, Text: draw.Clean(b.Request.Text)}
}

// context returns how much of the context window is used.
func (b *Bar) context() draw.Span {
	s := b.Session
	if s.Percent < 0 || s.Mode == "" {
		return draw.Span{}
	}
	span := draw.Span{Role: draw.Faint, Text: fmt.Sprintf("%d%%", s.Percent)}
	switch s.Fill {
	case commands.Tight:
		span = draw.Span{Role: draw.Warning, Text: "! " + span.Text}
	case commands.Full:
		span = draw.Span{Role: draw.Bad, Text: "! " + span.Text + " full"}
	}
	return span
}

// branch returns the branch, shortened if it is long.
func (b *Bar) branch() string {
	const most = 30
	if name := draw.Clean(b.Session.Branch); cells.Width(name) > most {
		return fit(name, most-cells.Width(b.Glyphs.More)) + b.Glyphs.More
	}
	return b.Session.Branch
}
