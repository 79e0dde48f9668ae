package filestate

import "slices"

// A Span is a range of lines from First to Last, counted from 1 and inclusive.
type Span struct{ First, Last int }

// A Change describes an edit to a file's lines: Old lines starting at First, in the file before
// the edit, became New lines.
type Change struct{ First, Old, New int }

// Shift returns the positions of spans after changes, which are sorted and disjoint. The
// changed lines themselves count as seen: their author knows them.
func Shift(spans []Span, changes []Change) []Span {
	moved := Move(spans, changes)
	delta := 0
	for _, c := range changes {
		if c.New > 0 {
			moved = Add(moved, Span{c.First + delta, c.First + delta + c.New - 1})
		}
		delta += c.New - c.Old
	}
	return moved
}

// Move is like [Shift], without the changed lines. Its result is never nil.
func Move(spans []Span, changes []Change) []Span {
	moved := []Span{}
	for _, s := range spans {
		delta, next := 0, s.First
		keep := func(last int) {
			if next <= last {
				moved = Add(moved, Span{next + delta, last + delta})
			}
		}
		for _, c := range changes {
			if c.First > s.Last {
				break
			}
			keep(c.First - 1)
			next = max(next, c.First+c.Old)
			delta += c.New - c.Old
		}
		keep(s.Last)
	}
	return moved
}

// Add returns spans with s added, sorted and merged where they touch. It does not modify spans.
func Add(spans []Span, s Span) []Span {
	var out []Span
	for _, t := range spans {
		if t.Last+1 < s.First || s.Last+1 < t.First {
			out = append(out, t)
			continue
		}
		s = Span{min(s.First, t.First), max(s.Last, t.Last)}
	}
	i, _ := slices.BinarySearchFunc(out, s, func(a, b Span) int { return a.First - b.First })
	return slices.Insert(out, i, s)
}

// Covers reports whether spans contain all lines from first to last. It is false for an empty
// range.
func Covers(spans []Span, first, last int) bool {
	return first <= last && slices.ContainsFunc(spans, func(s Span) bool { return s.First <= first && last <= s.Last })
}

// Cut removes lines, which are sorted, from the delivered ones because only their beginnings
// were shown.
func (e *Entry) Cut(lines []int) {
	if len(lines) == 0 {
		return
	}
	first, last := e.Offset, e.Offset+e.Lines-1
	for _, n := range append(slices.Clip(lines), last+1) {
		if first < n {
			e.Seen = Add(e.Seen, Span{first, min(n-1, last)})
		}
		first = n + 1
	}
	e.Lines, e.Complete = 0, false
}
