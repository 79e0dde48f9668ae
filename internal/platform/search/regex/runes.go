package regex

import (
	"slices"
	"unicode"
)

// runes is a set of characters: sorted inclusive ranges that neither touch nor overlap. It
// never contains surrogates, since no text does.
type runes [][2]rune

const (
	maxRune      = unicode.MaxRune
	surrogateMin = 0xd800
	surrogateMax = 0xdfff
)

// normal returns the union of the ranges, which it may reorder.
func normal(ranges runes) runes {
	slices.SortFunc(ranges, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}

func union(sets ...runes) runes { return normal(slices.Concat(sets...)) }

// negate returns the complement of s.
func (s runes) negate() runes {
	var out runes
	next := rune(0)
	add := func(lo, hi rune) {
		if lo < surrogateMin && hi > surrogateMax {
			out = append(out, [2]rune{lo, surrogateMin - 1}, [2]rune{surrogateMax + 1, hi})
			return
		}
		if lo >= surrogateMin && lo <= surrogateMax {
			lo = surrogateMax + 1
		}
		if hi >= surrogateMin && hi <= surrogateMax {
			hi = surrogateMin - 1
		}
		if lo <= hi {
			out = append(out, [2]rune{lo, hi})
		}
	}
	for _, r := range s {
		add(next, r[0]-1)
		next = r[1] + 1
	}
	add(next, maxRune)
	return out
}

func (s runes) intersect(t runes) runes { return union(s.negate(), t.negate()).negate() }

func (s runes) minus(t runes) runes { return union(s.negate(), t).negate() }

func (s runes) has(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(e [2]rune, r rune) int {
		switch {
		case r < e[0]:
			return 1
		case r > e[1]:
			return -1
		}
		return 0
	})
	return found
}

// fold returns s with the other cases of its characters.
func (s runes) fold() runes {
	out := slices.Clone(s)
	add := func(lo, hi rune) {
		for c := lo; c <= hi; c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				out = append(out, [2]rune{f, f})
			}
		}
	}
	for _, r := range s {
		if r[1]-r[0] < 64 {
			add(r[0], r[1])
			continue
		}
		for _, cased := range unicode.CaseRanges {
			add(max(r[0], rune(cased.Lo)), min(r[1], rune(cased.Hi)))
		}
	}
	return normal(out)
}

func single(r rune) runes { return runes{{r, r}} }

// fromTables returns the union of the tables.
func fromTables(tables ...*unicode.RangeTable) runes {
	var out runes
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, [2]rune{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			out = append(out, [2]rune{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return normal(out).minusSurrogates()
}

func (s runes) minusSurrogates() runes {
	if !s.has(surrogateMin) && !s.has(surrogateMax) {
		return s
	}
	return s.negate().negate()
}
