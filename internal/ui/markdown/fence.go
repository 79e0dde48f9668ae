package markdown

import (
	"strings"

	"adze/internal/ui/code"
	"adze/internal/ui/draw"
)

// A fence is code between lines of backquotes or tildes.
type fence struct {
	mark   string // that ends it; empty if there is no code
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
	s.fence = fence{mark, indentOf(line), code.New(text[len(mark):])}
}

// fenced takes a line of code, or the one that ends it.
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
	s.emit(draw.Coloured(&s.memory().stock, &s.fence.lexer, clean(line)))
}

func (s *Stream) endFence() {
	s.fence = fence{}
	if !s.Marks {
		s.separate()
	}
}
