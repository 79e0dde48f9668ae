package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A mode determines how characters are compared.
type mode bool

const (
	exactly       mode = false
	foldingQuotes mode = true
)

// An element is a part of a needle: literal bytes or alternatives.
type element struct {
	literal []byte
	// end matches a line ending in either form.
	end bool
	// quotes are the accepted forms of a quotation mark.
	quotes [][]byte
}

// A needle is a text to search for.
type needle []element

// needle returns s, which has LF line endings, in the file's encoding.
func (e encoding) needle(s string, how mode) needle {
	var out needle
	from := 0
	flush := func(to int) {
		if from < to {
			out = append(out, element{literal: e.encode(s[from:to])})
		}
	}
	for i, r := range s {
		forms := quoteForms(r)
		if r != '\n' && (how == exactly || forms == "") {
			continue
		}
		flush(i)
		from = i + utf8.RuneLen(r)
		if r == '\n' {
			out = append(out, element{end: true})
			continue
		}
		var mark element
		for _, form := range forms {
			mark.quotes = append(mark.quotes, e.encode(string(form)))
		}
		out = append(out, mark)
	}
	flush(len(s))
	return out
}

// after matches e at p and returns the position after it.
func (e *element) after(t *text, p int) (int, bool) {
	switch {
	case e.end:
		n := t.endAt(p)
		return p + n, n > 0
	case e.literal != nil:
		q := p + len(e.literal)
		if !bytes.HasPrefix(t.data[p:], e.literal) {
			return 0, false
		}
		// A CR before LF belongs to the line ending.
		return q, !(t.is(q-t.unit(), '\r') && t.is(q, '\n'))
	}
	for _, form := range e.quotes {
		if bytes.HasPrefix(t.data[p:], form) {
			return p + len(form), true
		}
	}
	return 0, false
}

// before matches e so that it ends at q, and returns its start.
func (e *element) before(t *text, q int) (int, bool) {
	switch {
	case e.end:
		p := q - t.unit()
		if !t.is(p, '\n') {
			return 0, false
		}
		if t.is(p-t.unit(), '\r') {
			p -= t.unit()
		}
		return p, true
	case e.literal != nil:
		p := q - len(e.literal)
		return p, p >= t.start && bytes.Equal(t.data[p:q], e.literal)
	}
	for _, form := range e.quotes {
		if p := q - len(form); p >= t.start && bytes.Equal(t.data[p:q], form) {
			return p, true
		}
	}
	return 0, false
}

// forward matches n at p and returns the position after it.
func (n needle) forward(t *text, p int) (_ int, ok bool) {
	for i := range n {
		if p, ok = n[i].after(t, p); !ok {
			return 0, false
		}
	}
	return p, true
}

// backward matches n so that it ends at q, and returns its start.
func (n needle) backward(t *text, q int) (_ int, ok bool) {
	for i := len(n) - 1; i >= 0; i-- {
		if q, ok = n[i].before(t, q); !ok {
			return 0, false
		}
	}
	return q, true
}

// A searchResult is a search result.
type searchResult struct {
	ranges []Range // all matches if they are to be replaced, otherwise the first few
	count  int
}

// findAll finds the needle. To replace all, occurrences must not overlap; otherwise overlapping
// ones count too, since the match would be ambiguous.
func (t *text) findAll(n needle, all bool) searchResult {
	var h searchResult
	taken := t.start
	for m := range t.occurrences(n) {
		if all && m.Start < taken {
			continue
		}
		h.count++
		taken = m.End
		if all || len(h.ranges) < maxLines {
			h.ranges = append(h.ranges, m)
		}
	}
	return h
}

// occurrences yields the matches from left to right. It searches for the longest run of literal
// bytes and compares the rest only there.
func (t *text) occurrences(n needle) func(func(Range) bool) {
	anchor := 0
	for i, e := range n {
		if len(e.literal) > len(n[anchor].literal) {
			anchor = i
		}
	}
	return func(yield func(Range) bool) {
		for p := range t.candidates(&n[anchor]) {
			begin, ok := n[:anchor].backward(t, p)
			if !ok {
				continue
			}
			if end, ok := n[anchor:].forward(t, p); ok && !yield(Range{begin, end}) {
				return
			}
		}
	}
}

// candidates yields possible starts of e.
func (t *text) candidates(e *element) func(func(int) bool) {
	if e.end {
		return t.lineEnds
	}
	forms := e.quotes
	if e.literal != nil {
		forms = [][]byte{e.literal}
	}
	return func(yield func(int) bool) {
		searches, next := make([]search, len(forms)), make([]int, len(forms))
		for i := range forms {
			searches[i] = newSearch(t, forms[i])
			next[i] = searches[i].from(t.start)
		}
		for {
			first := -1
			for i := range next {
				if next[i] >= 0 && (first < 0 || next[i] < next[first]) {
					first = i
				}
			}
			if first < 0 || !yield(next[first]) {
				return
			}
			next[first] = searches[first].from(next[first] + 1)
		}
	}
}

// A search finds bytes in a text by scanning for the rarest of them.
type search struct {
	t      *text
	want   []byte
	rare   int // index of the rarest byte
	misses int // how often that byte was a false hit
}

// sampled is the number of bytes sampled to estimate which are rare.
const sampled = 16 << 10

func newSearch(t *text, want []byte) search {
	s := search{t: t, want: want}
	var count [256]int
	for _, c := range t.data[:min(len(t.data), sampled)] {
		count[c]++
	}
	for i, c := range want {
		if count[c] < count[want[s.rare]] {
			s.rare = i
		}
	}
	return s
}

// from returns the first match at or after p, or -1.
func (s *search) from(p int) int {
	for p+len(s.want) <= len(s.t.data) {
		i := s.jump(p)
		if i < 0 {
			return -1
		}
		p += i
		if s.t.aligned(p) && bytes.HasPrefix(s.t.data[p:], s.want) {
			return p
		}
		s.misses++
		p++
	}
	return -1
}

// jump returns the distance from p to the next candidate. If the supposedly rare byte is
// frequent, it searches for all of the bytes.
func (s *search) jump(p int) int {
	if s.misses > p/32+1000 {
		return bytes.Index(s.t.data[p:], s.want)
	}
	return bytes.IndexByte(s.t.data[p+s.rare:], s.want[s.rare])
}

// lineEnds yields the starts of line endings.
func (t *text) lineEnds(yield func(int) bool) {
	for p := t.nextEnd(t.start); p >= 0; p = t.nextEnd(p + t.unit()) {
		begin := p
		if t.is(p-t.unit(), '\r') {
			begin -= t.unit()
		}
		if !yield(begin) {
			return
		}
	}
}

// quotes are the characters used as quotation marks and apostrophes.
const quotes = `'"` + "\u2018\u2019\u201c\u201d"

// quoteForms returns the characters equivalent to the quotation mark r, the straight one first,
// or "".
func quoteForms(r rune) string {
	const single, double = "'\u2018\u2019", "\"\u201c\u201d"
	switch {
	case strings.ContainsRune(single, r):
		return single
	case strings.ContainsRune(double, r):
		return double
	}
	return ""
}
