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
	// Hint is shown at the end if there is room and Typing is empty.
	Hint string
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
	end := draw.Span{Role: draw.Accent, Text: cells.Cut(draw.Clean(b.Typing), room, b.Glyphs.More)}
	if end.Text != "" {
		room -= cells.Width(end.Text) + gap
	}
	row := append(draw.Blanks(margin), b.left(max(0, room))...)
	if strings.TrimSpace(row.String()+end.Text) == "" {
		return nil, nil
	}
	if end.Text == "" && b.Note == "" && row.Width()+gap+cells.Width(b.Hint) <= w {
		end = faint(b.Hint)
	}
	if end.Text != "" {
		row = append(row, draw.Span{Text: strings.Repeat(" ", max(0, w-row.Width()-cells.Width(end.Text)))}, end)
	}
	return []draw.Row{row}, nil
}

// gap is the minimum number of cells before the end of the row.
const gap = 2

// left returns everything except the end of the row, in at most room cells.
func (b *Bar) left(room int) draw.Row {
	switch {
	case b.Note != "":
		return b.cut(draw.Line(draw.Text, draw.Clean(b.Note)), room)
	case b.Custom != "":
		row := draw.Styled(b.Custom)
		if b.Session.Mode != "default" && b.Session.Mode != "" {
			row = append(append(b.mode(), b.dot()), row...)
		}
		return b.cut(row, room)
	}
	return b.usual(room)
}

// A part is a part of the row. Parts with the lowest rank are dropped first.
type part struct {
	draw.Row
	rank int
}

// modeRank is the rank of the mode, which is never dropped.
const modeRank = 6

// usual returns the state of the session. Parts that do not fit are dropped: first the gauge
// before the number, then the branch, the pull request, the model, the cost and the context.
func (b *Bar) usual(room int) draw.Row {
	s := b.Session
	for least := 0; ; least++ {
		parts := []part{
			{b.mode(), modeRank}, {draw.Row{faint(s.Model)}, 3}, {b.context(least == 0), 5}, {draw.Row{faint(s.Cost)}, 4},
			{draw.Row{faint(b.branch())}, 1}, {draw.Row{b.request()}, 2},
		}
		var row draw.Row
		for _, p := range parts {
			if p.rank < least || p.String() == "" {
				continue
			}
			if len(row) > 0 {
				row = append(row, b.dot())
			}
			row = append(row, p.Row...)
		}
		if row.Width() <= room || least == modeRank {
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

// mode returns a short name of the permission mode, after a dot in the color of its risk.
func (b *Bar) mode() draw.Row {
	name, role := draw.Clean(b.Session.Mode), draw.Accent
	switch b.Session.Mode {
	case "":
		return nil
	case "default":
		return draw.Row{{Role: draw.Good, Text: b.Glyphs.State + " "}, {Text: "ask"}}
	case "dontAsk":
		name = "do not ask"
	case "acceptEdits":
		name, role = "accept edits", draw.Warning
	case "auto":
		role = draw.Warning
	case "bypassPermissions":
		name, role = "bypass", draw.Bad
	}
	return draw.Line(role, b.Glyphs.State+" "+name)
}

// request returns the state of the pull request.
func (b *Bar) request() draw.Span {
	role := [...]draw.Role{commands.Neutral: draw.Faint, commands.Well: draw.Good, commands.Ill: draw.Bad}[b.Request.Mood]
	return draw.Span{Role: role, Text: draw.Clean(b.Request.Text)}
}

// Percentages of the context window from which its gauge has other colors.
const (
	muchUsed   = 80
	almostFull = 95
)

// context returns how much of the context window is used, with a gauge if gauged is true.
func (b *Bar) context(gauged bool) draw.Row {
	const size = 10
	s := b.Session
	if s.Percent < 0 || s.Mode == "" {
		return nil
	}
	used := draw.Accent
	text := draw.Span{Role: draw.Faint, Text: fmt.Sprintf("%d%%", s.Percent)}
	switch {
	case s.Percent >= almostFull || s.Fill == commands.Full:
		used, text.Role = draw.Bad, draw.Bad
	case s.Percent >= muchUsed || s.Fill == commands.Tight:
		used, text.Role = draw.Warning, draw.Warning
	}
	switch s.Fill { // visible without colors
	case commands.Tight:
		text.Text = "! " + text.Text
	case commands.Full:
		text.Text = "! " + text.Text + " full"
	}
	if !gauged {
		return draw.Row{text}
	}
	n := min(size, (s.Percent+size/2)/size)
	return draw.Row{{Role: used, Text: strings.Repeat(b.Glyphs.Full, n)}, {Role: draw.Faint, Text: strings.Repeat(b.Glyphs.Free, size-n) + " "}, text}
}

// branch returns the branch, shortened if it is long.
func (b *Bar) branch() string {
	const most = 30
	name := draw.Clean(b.Session.Branch)
	if name == "" {
		return ""
	}
	if cells.Width(name) > most {
		name = fit(name, most-cells.Width(b.Glyphs.More)) + b.Glyphs.More
	}
	return b.Glyphs.Branch + name
}
