package scan

import (
	"bytes"
	"context"
)

// searchLines searches line by line: a large file in parts, any other piece by piece.
func (s *Searcher) searchLines(ctx context.Context) error {
	if err := s.more(ctx, s.size.piece); err != nil || s.stats.Binary {
		return err
	}
	switch src := s.large(); {
	case src == nil:
		return s.searchPieces(ctx)
	case s.o.Mode == Lines:
		return s.searchPartLines(ctx, src)
	default:
		return s.searchParts(ctx, src)
	}
}

// searchPieces searches the rest of the input in pieces of whole lines.
func (s *Searcher) searchPieces(ctx context.Context) error {
	in := &s.in
	want := s.size.piece
	for {
		if err := s.more(ctx, want); err != nil || s.stats.Binary {
			return err
		}
		want = s.size.piece
		if in.skipLine && !s.skipLine() {
			if in.eof {
				return nil
			}
			continue
		}
		end, long := len(in.data), false
		if !in.eof {
			end = in.done + bytes.LastIndexByte(in.data[in.done:], '\n') + 1
		}
		if end == in.done && !in.eof {
			if len(in.data)-in.done < s.size.line {
				want = len(in.data) - in.done + s.size.piece
				continue
			}
			end, long = len(in.data), true
		}
		if err := s.searchPiece(ctx, end, long); err != nil {
			return err
		}
		if in.eof || s.done || s.stats.Binary {
			return s.drain(ctx)
		}
		s.shift(end, long)
	}
}

// searchPiece searches the lines from in.done to end or, if long, part of a line.
func (s *Searcher) searchPiece(ctx context.Context, end int, long bool) error {
	in, m := &s.in, s.matcher
	before := s.stats.Lines
	s.stats.Cut = s.stats.Cut || long
	s.out.cut = long || in.inLine
	m.Start(ctx, in.data[in.done:end])
	if s.o.Mode == Count && s.o.Spans != AllSpans {
		n := m.Count()
		if n > 0 && s.stats.Lines == 0 && bytes.IndexByte(in.data, 0) >= 0 {
			s.stats.Binary = true
			return nil
		}
		s.stats.Lines += n
	}
	for !s.done {
		from, to, ok := s.next()
		if !ok {
			break
		}
		// A file read in one piece is checked for null bytes only if there is a match.
		if s.stats.Lines == 0 && bytes.IndexByte(in.data, 0) >= 0 {
			s.stats.Binary = true
			return nil
		}
		s.stats.Lines++
		switch s.o.Mode {
		case Exists:
			s.done = true
		case Count:
			if s.o.Spans == AllSpans {
				s.out.find(ctx, in.data[in.done+from:in.done+to])
			}
		case Lines:
			s.done = !s.out.match(ctx, in.done+from, in.done+to)
		}
	}
	if !s.done {
		s.done = !s.out.contextUpTo(end)
	}
	in.skipLine = long && (s.stats.Lines > before || s.out.next >= in.base+int64(end))
	return m.Err()
}

// next finds the next matching line. It determines the line's bounds only if the line or the
// matches in it are needed.
func (s *Searcher) next() (from, to int, ok bool) {
	if s.o.Mode == Lines || s.o.Mode == Count && s.o.Spans == AllSpans {
		return s.matcher.Next()
	}
	return 0, 0, s.matcher.Pass()
}

// more reads until there are n unsearched bytes, or nothing more to read. It detects a null
// byte at the beginning of a file and, in a file that is not read in one piece, anywhere.
func (s *Searcher) more(ctx context.Context, n int) error {
	in := &s.in
	first := in.total == 0
	unseen := len(in.data)
	for full := len(in.data)-in.done >= n; !full && !in.eof; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if full, err = in.read(n); err != nil {
			return err
		}
	}
	look := in.data[unseen:]
	if first && in.eof && !s.part {
		look = look[:min(len(look), s.size.head)]
	}
	s.stats.Binary = bytes.IndexByte(look, 0) >= 0
	return nil
}

// drain reads to the end of a file whose result is known, since a null byte would invalidate
// it.
func (s *Searcher) drain(ctx context.Context) error {
	for s.stats.Lines > 0 && !s.in.eof && !s.stats.Binary {
		s.in.drop(len(s.in.data))
		s.in.done = 0
		if err := s.more(ctx, s.size.piece); err != nil {
			return err
		}
	}
	return nil
}

// shift discards the searched text up to end, except for lines that may still be shown as
// context.
func (s *Searcher) shift(end int, long bool) {
	in := &s.in
	keep := s.out.keepFrom(end)
	if long {
		keep = end - s.size.overlap
	}
	in.inLine = long
	s.out.drop(keep)
	in.drop(keep)
	if in.done = end - keep; long {
		in.done = 0
	}
}

// skipLine discards the rest of a line that has already been shown. It reports whether it found
// the line's end.
func (s *Searcher) skipLine() bool {
	in := &s.in
	end := len(in.data)
	i := bytes.IndexByte(in.data[in.done:], '\n')
	if i >= 0 {
		end = in.done + i + 1
		in.skipLine, in.inLine = false, false
	}
	s.out.drop(end)
	in.drop(end)
	in.done = 0
	return i >= 0
}
