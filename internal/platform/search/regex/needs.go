package regex

import (
	"slices"

	"adze/internal/platform/search/find"
)

// A Gram is a sequence of three or four bytes, the first in the highest position, with ASCII
// letters in lower case.
type Gram uint32

// Long reports whether g has four bytes. Grams never begin with a null byte.
func (g Gram) Long() bool { return g > 0xffffff }

// A Need is a condition on the grams of a text: it must contain all grams of at least one
// alternative.
type Need [][]Gram

// needs returns the conditions that every text with a match satisfies.
func needs(f facts) []Need {
	var out []Need
	for _, c := range f.all() {
		if n := c.need(); n != nil && !slices.ContainsFunc(out, func(o Need) bool { return equalNeeds(o, n) }) {
			out = append(out, n)
		}
	}
	return out
}

func equalNeeds(a, b Need) bool {
	return slices.EqualFunc(a, b, func(x, y []Gram) bool { return slices.Equal(x, y) })
}

// need returns nil if any window has no gram.
func (c clause) need() Need {
	if !c.usable() {
		return nil
	}
	var out Need
	for _, w := range c {
		all := grams(w)
		if all == nil {
			return nil
		}
		out = append(out, all)
	}
	return out
}

// grams returns the grams that every text matching w contains.
func grams(w find.Window) []Gram {
	var all []Gram
	add := func(g Gram) {
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	run, length := Gram(0), 0
	for _, set := range w {
		b, ok := onlyByte(set)
		if !ok {
			length = 0
			continue
		}
		run = run<<8 | Gram(b)
		if length++; length >= 3 {
			add(run & 0xffffff)
		}
		if length >= 4 && run.Long() {
			add(run)
		}
	}
	return all
}

// onlyByte returns the single byte of set, ignoring ASCII case.
func onlyByte(set find.Set) (byte, bool) {
	found, n := byte(0), 0
	for c := range 256 {
		if !set.Has(byte(c)) {
			continue
		}
		lower := byte(c)
		if c >= 'A' && c <= 'Z' {
			lower += 'a' - 'A'
		}
		if n > 0 && lower != found {
			return 0, false
		}
		found = lower
		n++
	}
	return found, n > 0
}
