package filestate

import "slices"

// A Span is a run of lines, from First to Last, both counted from 1 and both included.
type Span struct{ First, Last int }

// A Change is what an edit did to the lines of a file: Old lines from First on, counted in the file as
// it was, became New lines.
type Change struct{ First, Old, New int }

// Shift returns where the lines of spans are after changes, which are in order and apart. The changed
// lines themselves count as seen: their author knows them.
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

// Move is [Shift] without the changed lines. Its result is not nil.
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

// Add returns spans with s: in order, and joined where they touch. It leaves spans as it is.
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

// Covers reports whether the lines first to last are all in spans; no lines never are.
func Covers(spans []Span, first, last int) bool {
	return first <= last && slices.ContainsFunc(spans, func(s Span) bool { return s.First <= first && last <= s.Last })
}

// Cut removes lines, in order, from the delivered ones: only their beginnings were shown.
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
