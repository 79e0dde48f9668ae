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
	if !s.Marks {
		s.separate()
	} else {
		s.emit(s.memory().stock.Line(draw.Text, clean(text)))
	}
	info := strings.ToLower(strings.TrimSpace(text[len(mark):]))
	s.fence = fence{mark, info == "diff" || info == "patch", indentOf(line), code.New(info)}
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
	if s.fence.diff {
		s.emit(s.memory().stock.Line(diffRole(line), line))
		return
	}
	s.emit(draw.Highlight(&s.memory().stock, &s.fence.lexer, line))
}

// diffRole returns the role of a diff line.
func diffRole(line string) draw.Role {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return draw.Strong
	case strings.HasPrefix(line, "+"):
		return draw.Added
	case strings.HasPrefix(line, "-"):
		return draw.Removed
	case strings.HasPrefix(line, "@@"):
		return draw.Faint
	}
	return draw.Text
}

func (s *Stream) endFence() {
	s.fence = fence{}
	if !s.Marks {
		s.separate()
	}
}
