package scan

import (
	"bytes"
	"context"
)

// searchText searches for matches that may span lines. Files up to size.text are searched
// whole. In a longer file, matches that begin near the end of the buffered data wait for more.
func (s *Searcher) searchText(ctx context.Context) error {
	in := &s.in
	for {
		if err := s.more(ctx, s.size.text); err != nil || s.stats.Binary {
			return err
		}
		limit := len(in.data)
		if !in.eof {
			limit -= s.size.span
			if i := bytes.LastIndexByte(in.data[in.done:max(limit, in.done)], '\n'); i >= 0 {
				limit = in.done + i + 1
			}
			s.stats.Cut = true
		}
		if err := s.searchMatches(ctx, limit); err != nil {
			return err
		}
		if in.eof || s.done || s.stats.Binary {
			return s.drain(ctx)
		}
		s.shiftText()
	}
}

// A block is a run of lines with matches that have not been passed to the sink yet.
type block struct {
	start, end int    // offsets in data, including the last line end
	last       int    // start of the last line
	matches    []Span // non-empty matches, if requested
}

func (b *block) empty() bool { return b.start == b.end }

// searchMatches searches from in.done for matches that begin before limit.
func (s *Searcher) searchMatches(ctx context.Context, limit int) error {
	in := &s.in
	last := -1
	for in.done < limit && !s.done {
		start, end, ok := s.matcher.Find(ctx, in.data, in.done)
		if !ok || start >= limit && !s.endsLine(start) {
			in.done = max(in.done, limit)
			break
		}
		if s.stats.Lines == 0 && s.pending.empty() && bytes.IndexByte(in.data, 0) >= 0 {
			s.stats.Binary = true
			return nil
		}
		if start != end || start != last {
			s.stats.Matches++
		}
		in.done, last = end, end
		if start == end {
			in.done++
		}
		s.addMatch(Span{start, end})
	}
	s.handOver(limit)
	if !s.done {
		s.done = !s.out.contextUpTo(limit)
	}
	return s.matcher.Err()
}

// endsLine reports whether a position is the end of the file's last line, which lacks its line
// feed.
func (s *Searcher) endsLine(at int) bool {
	return s.in.eof && at == len(s.in.data) && s.in.data[at-1] != '\n'
}

// addMatch adds a match, and passes on the lines that no further match can touch.
func (s *Searcher) addMatch(m Span) {
	if s.o.Mode == Exists {
		s.stats.Lines, s.done = 1, true
		return
	}
	p := &s.pending
	data := s.in.data
	// On a line with many matches, finding its start once is enough.
	floor := 0
	if !p.empty() {
		floor = p.last
		if m.Start >= p.end && data[p.end-1] == '\n' {
			floor = p.end
		}
	}
	start := floor + bytes.LastIndexByte(data[floor:m.Start], '\n') + 1
	if p.empty() || m.End > p.end || start >= p.end {
		s.handOver(start)
		s.extend(start, m.End)
	}
	s.keepSpan(m)
}

// extend adds the lines from start up to and including the line that contains end.
func (s *Searcher) extend(start, end int) {
	p := &s.pending
	data := s.in.data
	if end <= start || data[end-1] != '\n' {
		if i := bytes.IndexByte(data[end:], '\n'); i >= 0 {
			end += i + 1
		} else {
			end = len(data)
		}
	}
	if p.empty() {
		p.start, p.end = start, start
	}
	p.end = max(p.end, end)
	p.last = max(start, start+bytes.LastIndexByte(data[start:p.end-1], '\n')+1)
}

// keepSpan records a match to be shown, if requested.
func (s *Searcher) keepSpan(m Span) {
	p := &s.pending
	if s.o.Mode != Lines || m.Start == m.End || len(p.matches) == maxSpans {
		return
	}
	if s.o.Spans == AllSpans || s.o.Spans == FirstSpan && (len(p.matches) == 0 || p.matches[len(p.matches)-1].End <= p.last) {
		p.matches = append(p.matches, m)
	}
}

// handOver passes the pending lines before limit to the sink, and drops the matches within
// them.
func (s *Searcher) handOver(limit int) {
	p := &s.pending
	if p.empty() || p.start >= limit {
		return
	}
	for !p.empty() && p.start < limit && !s.done {
		end := p.end
		next := p.end
		if i := bytes.IndexByte(s.in.data[p.start:p.end], '\n'); i >= 0 {
			end = p.start + i
			next = end + 1
		}
		s.stats.Lines++
		if s.o.Mode == Lines {
			s.out.all = clip(s.out.all[:0], p.matches, Span{p.start, end}, s.o.Spans)
			s.done = !s.out.matched(p.start, end)
		}
		p.start = next
	}
	keep := p.matches[:0]
	for _, m := range p.matches {
		if m.End > p.start {
			keep = append(keep, m)
		}
	}
	p.matches = keep
}

// clip appends the parts of matches that are within a line, relative to its start.
func clip(to []Span, matches []Span, line Span, spans Spans) []Span {
	if spans == NoSpans {
		return to
	}
	for _, m := range matches {
		a, b := max(m.Start, line.Start), min(m.End, line.End)
		if a < b {
			to = append(to, Span{a - line.Start, b - line.Start})
			if spans == FirstSpan {
				break
			}
		}
	}
	return to
}

// shiftText discards the searched text. It keeps the byte before the rest, which the pattern
// may need, and lines that may be shown as context.
func (s *Searcher) shiftText() {
	in, p := &s.in, &s.pending
	if !p.empty() && in.done-p.start > s.size.span {
		s.handOver(p.end)
	}
	rest := in.done
	if !p.empty() {
		rest = p.start
	}
	start := bytes.LastIndexByte(in.data[:rest], '\n') + 1
	keep := s.out.keepFrom(start)
	if in.done-keep > s.size.span {
		keep = rest
	}
	keep = max(keep-1, 0)
	s.out.drop(keep)
	in.drop(keep)
	in.done -= keep
	p.start -= keep
	p.end -= keep
	p.last -= keep
	for i := range p.matches {
		p.matches[i].Start -= keep
		p.matches[i].End -= keep
	}
}
