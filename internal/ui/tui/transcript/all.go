package transcript

import (
	"sort"

	"adze/internal/ui/draw"
)

// All provides the rows of the whole transcript by index, with nothing folded or omitted. It
// grows with the transcript, and must be used from the same goroutine. Rows are drawn on
// demand.
type All struct {
	of    *record
	w     int
	ends  []int // cumulative number of rows up to the end of each part
	drawn int   // the part whose sections are cached, or -1
	at    []section
}

// All returns the whole transcript for a terminal that is w cells wide.
func (r *record) All(w int) *All { return &All{of: r, w: w, drawn: -1} }

// Len returns the number of rows, including new ones.
func (a *All) Len() int {
	for n := len(a.ends); n > 0 && (n > len(a.of.book) || !a.of.book[n-1].closed); n = len(a.ends) {
		a.forget(n - 1) // dropped, or still being written
	}
	for i := len(a.ends); i < len(a.of.book); i++ {
		n := a.before(i)
		for _, s := range a.sections(i) {
			n += s.Len()
		}
		a.ends = append(a.ends, n)
	}
	return a.before(len(a.ends))
}

// forget discards the cached state of the parts from index i on.
func (a *All) forget(i int) {
	a.ends = a.ends[:i]
	if a.drawn >= i {
		a.drawn = -1
	}
}

// before returns the number of rows before a part.
func (a *All) before(i int) int {
	if i == 0 {
		return 0
	}
	return a.ends[i-1]
}

// Row returns row i, which must be less than the last result of [All.Len]; nil if it is gone.
func (a *All) Row(i int) draw.Row {
	p := sort.SearchInts(a.ends, i+1)
	if p >= len(a.ends) || p >= len(a.of.book) || i < 0 {
		return nil
	}
	i -= a.before(p)
	for _, s := range a.sections(p) {
		if i < s.Len() {
			return s.Row(i)
		}
		i -= s.Len()
	}
	return nil
}

// Part reports whether a user message begins at row i.
func (a *All) Part(i int) bool {
	p := sort.SearchInts(a.ends, i+1)
	if p >= len(a.ends) || p >= len(a.of.book) || a.of.book[p].group() != promptGroup {
		return false
	}
	first := a.before(p)
	return i == first && p == 0 || i == first+1 && p > 0 // after an empty row
}

// sections returns a part, with the empty row before it.
func (a *All) sections(i int) []section {
	if a.drawn != i {
		book := a.of.book
		a.drawn, a.at = i, nil
		if i > 0 && apart(book[i-1].group(), book[i].group()) {
			a.at = sections([]draw.Row{nil})
		}
		a.at = append(a.at, book[i].whole(a.of.view(a.w))...)
	}
	return a.at
}
