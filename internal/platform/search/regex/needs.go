package regex

import (
	"slices"

	"adze/internal/platform/search/find"
)

// A Gram is three or four bytes in a row, the first in the highest place, with ASCII letters in lower
// case.
type Gram uint32

// Long reports whether g is of four bytes. One that begins with a null byte is never told.
func (g Gram) Long() bool { return g > 0xffffff }

// A Need is a condition on the grams of a text: that for one of its alternatives it has all.
type Need [][]Gram

// needs returns the conditions that every text with a match meets.
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

// need returns nil if one of the windows has no gram.
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

// grams returns what every text that fits w has.
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

// onlyByte returns the one byte of set, without regard to the case of ASCII letters.
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
