package markdown

import (
	"strings"

	"adze/internal/ui/code"
	"adze/internal/ui/draw"
)

// A fence is a fenced code block, delimited by backquotes or tildes.
type fence struct {
	mark   string // closing mark; empty outside code
	diff   bool   // the code is a diff
	indent int
	lexer  code.Lexer
}

func (s *Stream) openFence(line string) {
	text := strings.TrimSpace(line)
	mark := fenceMark(text)
	language, _, _ := strings.Cut(strings.TrimSpace(text[len(mark):]), " ")
	if s.Marks {
		s.emit(s.memory().stock.Line(draw.Text, clean(text)))
	} else {
		s.separate()
		if s.Glyphs.Bar != "" && language != "" {
			s.emit(draw.Line(draw.Faint, s.Glyphs.Top+s.Glyphs.Rule+" "+clean(language)).Cut(max(8, s.room()), s.Glyphs.More))
		}
	}
	language = strings.ToLower(language)
	s.fence = fence{mark, language == "diff" || language == "patch", indentOf(line), code.New(language)}
}

// fenced handles a line of code, or the closing fence.
func (s *Stream) fenced(line string) {
	text := strings.TrimSpace(line)
	if indentOf(line) < 4 && strings.HasPrefix(text, s.fence.mark) && strings.Trim(text, s.fence.mark[:1]) == "" {
		if s.Marks {
			s.emit(s.memory().stock.Line(draw.Text, text))
		}
		s.endFence()
		return
	}
	if n := min(s.fence.indent, indentOf(line)); n > 0 {
		line = dedent(line, n)
	}
	line = clean(line)
	barred := s.Glyphs.Bar != "" && !s.Marks
	if barred {
		line = draw.ExpandTabs(line)
	}
	row := draw.Row(nil)
	if s.fence.diff {
		row = diffLine(line)
	} else {
		row = draw.Highlight(&s.memory().stock, &s.fence.lexer, line)
	}
	if barred {
		row = append(draw.Row{{Role: draw.Faint, Text: s.Glyphs.Bar + " "}}, row...)
	}
	s.emit(row)
}

// diffLine renders a line of a diff.
func diffLine(line string) draw.Row {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return draw.Line(draw.Strong, line)
	case strings.HasPrefix(line, "+"):
		return draw.Line(draw.Added, line).On(draw.AddedGround, true)
	case strings.HasPrefix(line, "-"):
		return draw.Line(draw.Removed, line).On(draw.RemovedGround, true)
	case strings.HasPrefix(line, "@@"):
		return draw.Line(draw.Faint, line)
	}
	return draw.Line(draw.Text, line)
}

func (s *Stream) endFence() {
	s.fence = fence{}
	if !s.Marks {
		s.separate()
	}
}
