package scan

import (
	"bytes"
	"context"
)

// A report passes matching lines and their context to a sink. Positions are in the searcher's
// data.
type report struct {
	s    *Searcher
	sink Sink
	line Line
	all  []Span // matches in the current line

	begun   bool  // a line was passed to the sink
	next    int64 // text offset after the last line passed
	after   int   // lines of context still to follow
	counted int64 // text offset up to which line ends are counted
	number  int64 // line number at counted
	cut     bool  // the first line of the current piece is incomplete
}

func (r *report) reset(s *Searcher, sink Sink) {
	*r = report{s: s, sink: sink, all: r.all[:0], number: 1}
}

// match passes the matching line from start to end, after its context. It reports whether to
// continue.
func (r *report) match(ctx context.Context, start, end int) bool {
	if r.s.o.Spans != NoSpans {
		r.find(ctx, r.s.in.data[start:end])
	}
	return r.matched(start, end)
}

// matched is match for a line whose matches are in r.all.
func (r *report) matched(start, end int) bool {
	if !r.contextUpTo(start) {
		return false
	}
	for at := r.back(start, r.s.o.Before); at < start; {
		lineEnd := at + bytes.IndexByte(r.s.in.data[at:], '\n')
		if !r.give(at, lineEnd, false) {
			return false
		}
		at = lineEnd + 1
	}
	r.after = r.s.o.After
	return r.give(start, end, true)
}

// contextUpTo passes the lines of context after the last match and before end.
func (r *report) contextUpTo(end int) bool {
	for r.after > 0 {
		at := int(r.next - r.s.in.base)
		if at >= end {
			break
		}
		lineEnd := end
		if i := bytes.IndexByte(r.s.in.data[at:end], '\n'); i >= 0 {
			lineEnd = at + i
		}
		r.after--
		if !r.give(at, lineEnd, false) {
			return false
		}
	}
	return true
}

// back returns the start of the nth line before start, excluding lines already passed.
func (r *report) back(start, n int) int {
	floor := max(0, int(r.next-r.s.in.base))
	at := start
	for ; n > 0 && at > floor; n-- {
		at = floor + bytes.LastIndexByte(r.s.in.data[floor:at-1], '\n') + 1
	}
	return at
}

func (r *report) give(start, end int, match bool) bool {
	in := &r.s.in
	l := &r.line // set fields individually: assigning a whole struct with pointers is slower
	l.Offset = in.base + int64(start)
	l.Text = in.data[start:end]
	l.Match = match
	r.count(l.Offset)
	l.Number = r.number
	l.Gap = r.begun && l.Offset > r.next
	l.Cut = r.cut && start == in.done
	if l.Spans = nil; match {
		l.Spans = r.all
	}
	r.begun = true
	r.next = l.Offset + int64(len(l.Text)) + 1
	return r.sink(l)
}

// count counts line ends up to a text offset.
func (r *report) count(to int64) {
	if to <= r.counted {
		return
	}
	base := r.s.in.base
	r.number += int64(bytes.Count(r.s.in.data[r.counted-base:to-base], []byte{'\n'}))
	r.counted = to
}

// keepFrom returns the start of the data that may be shown as context of text after end.
func (r *report) keepFrom(end int) int {
	if r.s.o.Mode != Lines {
		return end
	}
	keep := r.back(end, r.s.o.Before)
	if end-keep > r.s.size.line {
		return end
	}
	return keep
}

// drop prepares for discarding the first n bytes of data.
func (r *report) drop(n int) {
	if r.s.o.Mode == Lines || r.s.counts {
		r.count(r.s.in.base + int64(n))
	}
}

// find records and counts the matches in a line.
func (r *report) find(ctx context.Context, line []byte) {
	r.all = r.all[:0]
	last := -1
	for from := 0; from <= len(line); {
		start, end, ok := r.s.matcher.Find(ctx, line, from)
		if !ok {
			return
		}
		from = end
		if start == end {
			from++
		} else if len(r.all) < maxSpans {
			r.all = append(r.all, Span{start, end})
		}
		if start != end || end != last {
			r.s.stats.Matches++
		}
		last = end
		if r.s.o.Spans == FirstSpan && len(r.all) > 0 {
			return
		}
	}
}
