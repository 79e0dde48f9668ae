package pdf

import (
	"fmt"
	"strconv"
	"strings"
)

// A Range is a range of pages, counted from 1. Last is 0 for "to the end".
type Range struct{ First, Last int }

// ParseRange parses N, N-M or N-.
func ParseRange(s string) (Range, error) {
	from, to, through := strings.Cut(strings.TrimSpace(s), "-")
	first, ok := pageNumber(from)
	r := Range{First: first, Last: first}
	if through {
		r.Last = 0
		if strings.TrimSpace(to) != "" {
			var okLast bool
			r.Last, okLast = pageNumber(to)
			ok = ok && okLast
		}
	}
	if !ok || r.Last != 0 && r.Last < r.First {
		return Range{}, fmt.Errorf("pages is %q: write one page as 3, several as 1-5, or as 10- up to the last; pages are counted from 1", s)
	}
	return r, nil
}

func pageNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
	return int(n), err == nil && n > 0
}

// Len returns the number of pages in the range, or 0 if it depends on the document.
func (r Range) Len() int {
	if r.Last == 0 {
		return 0
	}
	return r.Last - r.First + 1
}

// Within clips the range to a document of n pages, and reports whether any pages are left.
func (r Range) Within(n int) (Range, bool) {
	if r.Last == 0 || r.Last > n {
		r.Last = n
	}
	return r, r.First <= r.Last
}
