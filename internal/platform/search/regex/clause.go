package regex

import (
	"slices"

	"adze/internal/platform/search/find"
)

// A clause is a list of windows. Every match contains a window of the list.
type clause []find.Window

// usable reports whether c restricts the positions to search.
func (c clause) usable() bool {
	return len(c) > 0 && !slices.ContainsFunc(c, func(w find.Window) bool { return len(w) == 0 })
}

// cross returns every window of a followed by every window of b, unless there are too many.
func cross(a, b clause) (clause, bool) {
	if len(a)*len(b) > find.MaxWindows {
		return nil, false
	}
	var out clause
	for _, left := range a {
		for _, right := range b {
			if len(left)+len(right) > find.MaxLen {
				return nil, false
			}
			out = append(out, slices.Concat(left, right))
		}
	}
	return out, true
}

// mergeSingles merges the single-position windows into one.
func mergeSingles(c clause) clause {
	var out clause
	var at = -1
	for _, w := range c {
		switch {
		case len(w) != 1:
			out = append(out, w)
		case at < 0:
			at = len(out)
			out = append(out, slices.Clone(w))
		default:
			out[at][0] = out[at][0].Union(w[0])
		}
	}
	return out
}

// squeeze merges windows until there are few enough. It cuts them to a common length, at their
// beginning if atEnd is true.
func squeeze(c clause, atEnd bool) clause {
	if len(c) <= find.MaxWindows {
		return c
	}
	c = slices.Clone(c)
	slices.SortStableFunc(c, func(a, b find.Window) int {
		return slices.CompareFunc(a, b, func(x, y find.Set) int { return slices.Compare(x[:], y[:]) })
	})
	var out clause
	size := (len(c) + find.MaxWindows - 1) / find.MaxWindows
	for group := range slices.Chunk(c, size) {
		out = append(out, mergeGroup(group, atEnd))
	}
	return out
}

func mergeGroup(group clause, atEnd bool) find.Window {
	length := find.MaxLen
	for _, w := range group {
		length = min(length, len(w))
	}
	merged := make(find.Window, length)
	for _, w := range group {
		if atEnd {
			w = w[len(w)-length:]
		}
		for i := range merged {
			merged[i] = merged[i].Union(w[i])
		}
	}
	return merged
}
