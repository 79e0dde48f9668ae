package regex

import (
	"slices"

	"adze/internal/platform/search/find"
)

// denseRate is how common what is looked for may be: beyond that it is faster to read everything.
const denseRate = 0.003

// A prefilter says where in a text to look for matches.
type prefilter struct {
	finder *find.Finder
	prefix bool // what is found is where a match begins, if there is one
	exact  bool // what is found is a match
	length int  // of all matches, if exact and they are of one length; else 0
}

// choosePrefilter returns nil if no place is less likely than the others.
func choosePrefilter(f facts) *prefilter {
	if f.exact.usable() && f.precise && len(f.exact) <= find.MaxWindows {
		p := &prefilter{finder: find.New(f.exact), prefix: true, exact: true, length: len(f.exact[0])}
		if slices.ContainsFunc(f.exact, func(w find.Window) bool { return len(w) != p.length }) {
			p.length = 0
		}
		return p
	}
	best, ok := f.best()
	if !ok {
		return nil
	}
	rate := find.Rate(best)
	// To know where a match begins saves reading the line from its start.
	prefix := f.prefix.usable() && find.Rate(f.prefix) <= 2*rate
	if prefix {
		best, rate = f.prefix, find.Rate(f.prefix)
	}
	if rate > denseRate {
		return nil
	}
	return &prefilter{finder: find.New(best), prefix: prefix}
}

// A Trigram is three bytes in a row, the first in the highest place, with ASCII letters in lower case.
type Trigram uint32

// A Need is a condition on the trigrams of a text: that for one of its alternatives it has all.
type Need [][]Trigram

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
	return slices.EqualFunc(a, b, func(x, y []Trigram) bool { return slices.Equal(x, y) })
}

// need returns nil if one of the windows has no trigram.
func (c clause) need() Need {
	if !c.usable() {
		return nil
	}
	var out Need
	for _, w := range c {
		var all []Trigram
		run, length := Trigram(0), 0
		for _, set := range w {
			b, ok := onlyByte(set)
			if !ok {
				length = 0
				continue
			}
			run = (run<<8 | Trigram(b)) & 0xffffff
			if length++; length >= 3 && !slices.Contains(all, run) {
				all = append(all, run)
			}
		}
		if all == nil {
			return nil
		}
		out = append(out, all)
	}
	return out
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
