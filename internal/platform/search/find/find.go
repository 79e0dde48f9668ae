// Package find looks for short byte patterns in buffers as fast as the processor reads memory. It has
// routines for AVX2 and NEON and plain Go for other processors, all with the same answers. Which
// patterns to look for, and what a hit means, is left to others.
package find

import (
	"bytes"
	"slices"
)

// MaxWindows is how many windows one finder looks for.
const MaxWindows = 8

// MaxLen is how many places of a window a finder looks at.
const MaxLen = 64

// probes is how many places of a window are looked at before the others.
const probes = 3

// commonRate is what a byte must be rarer than to be looked for alone.
const commonRate = 0.002

// A Finder finds the places where one of its windows begins. It does not change after [New], so any
// number of goroutines may use it.
type Finder struct {
	// allowed[i][c] has bit w set if window w may hold c at its place i, or is shorter than that.
	allowed [][256]uint8
	// ended[i] has bit w set if window w is no longer than i.
	ended  []uint8
	minLen int

	kind    kind
	pair    pair
	shuffle shuffle
	vector  bool // use the processor's vector instructions
}

type kind uint8

const (
	single  kind = iota // pair.byte1 at pair.off1, with the standard library
	double              // pair
	several             // shuffle
)

// A pair is two bytes at fixed distances from where the window begins. A byte b of the text fits the
// first if b|mask1 == byte1.
type pair struct {
	off1, off2   uint64
	byte1, mask1 uint8
	byte2, mask2 uint8
}

// A shuffle holds, for each of three places, which windows allow a byte with a given low and a given
// high half. A byte fits if the two agree on a window, which may be more bytes than the window holds.
type shuffle struct {
	off    [probes]uint64
	lo, hi [probes][16]uint8
}

// New returns a finder of windows, of which there are 1 to [MaxWindows], none of them empty. Places
// after the first [MaxLen] are not looked at.
func New(windows []Window) *Finder {
	f := &Finder{minLen: MaxLen, vector: hasVector()}
	longest := 0
	for _, w := range windows {
		f.minLen = min(f.minLen, len(w))
		longest = max(longest, len(w))
	}
	if len(windows) == 1 && f.choosePair(windows[0][:f.minLen]) {
		f.allow(windows, min(longest, MaxLen))
		return f
	}
	f.kind = several
	windows = sharpen(windows, f.minLen)
	f.allow(windows, min(longest, MaxLen))
	f.chooseShuffle(windows)
	return f
}

func (f *Finder) allow(windows []Window, length int) {
	f.allowed = make([][256]uint8, length)
	f.ended = make([]uint8, length)
	for i := range length {
		for n, w := range windows {
			bit := uint8(1) << n
			if i >= len(w) {
				f.ended[i] |= bit
				continue
			}
			for c := range w[i].bytes {
				f.allowed[i][c] |= bit
			}
		}
		if f.ended[i] == 0 {
			continue
		}
		for c := range f.allowed[i] {
			f.allowed[i][c] |= f.ended[i]
		}
	}
}

// choosePair picks the two rarest places that a masked comparison can test.
func (f *Finder) choosePair(w Window) bool {
	var places []int
	for i := range w {
		if _, _, ok := w[i].masked(); ok {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return false
	}
	// A single common byte is passed too often; three sets together are rarer.
	if len(places) == 1 && len(w) > 1 && w[places[0]].rate() > commonRate {
		return false
	}
	slices.SortStableFunc(places, func(a, b int) int {
		if w[a].rate() < w[b].rate() {
			return -1
		}
		return 1
	})
	first, second := places[0], places[min(1, len(places)-1)]
	p := &f.pair
	p.off1, p.off2 = uint64(first), uint64(second)
	p.byte1, p.mask1, _ = w[first].masked()
	p.byte2, p.mask2, _ = w[second].masked()
	f.kind = double
	if len(w) == 1 && p.mask1 == 0 {
		f.kind = single
	}
	return true
}

// chooseShuffle picks, one after the other, the three places that together are passed most rarely.
func (f *Finder) chooseShuffle(windows []Window) {
	rates := make([]float64, len(windows))
	for n := range rates {
		rates[n] = 1
	}
	var chosen []int
	for k := range probes {
		best, lowest := -1, 0.0
		for i := range f.minLen {
			if slices.Contains(chosen, i) {
				continue
			}
			total := 0.0
			for n, w := range windows {
				total += rates[n] * max(w[i].rate(), 0.002)
			}
			if best < 0 || total < lowest {
				best, lowest = i, total
			}
		}
		if best < 0 { // windows shorter than three
			best = chosen[0]
		}
		chosen = append(chosen, best)
		f.shuffle.off[k] = uint64(best)
		for n, w := range windows {
			rates[n] *= max(w[best].rate(), 0.002)
			for c := range w[best].bytes {
				f.shuffle.lo[k][c&15] |= 1 << n
				f.shuffle.hi[k][c>>4] |= 1 << n
			}
		}
	}
}

// Next returns the first place at or after from where a window begins, or -1.
func (f *Finder) Next(b []byte, from int) int {
	for {
		n := len(b) - f.minLen + 1 - from // how many places are left
		if n <= 0 {
			return -1
		}
		i := f.candidate(b[from:], n)
		if i < 0 {
			return -1
		}
		if f.kind == single || f.fits(b[from+i:]) {
			return from + i
		}
		from += i + 1
	}
}

// candidate returns the first of b's first n places that passes the probes, or -1. All probes of
// these places are within b.
func (f *Finder) candidate(b []byte, n int) int {
	switch {
	case f.kind == single:
		return bytes.IndexByte(b[:n], f.pair.byte1)
	case !f.vector || n < vectorMin:
		return f.candidatePortable(b, n)
	case f.kind == double:
		return indexPair(&b[0], n, &f.pair)
	default:
		return indexShuffle(&b[0], n, &f.shuffle)
	}
}

// fits reports whether a window begins at the start of b.
func (f *Finder) fits(b []byte) bool {
	left := uint8(0xff)
	for i := range f.allowed {
		if i == len(b) {
			return left&f.ended[i] != 0
		}
		left &= f.allowed[i][b[i]]
		if left == 0 {
			return false
		}
	}
	return true
}

// WithoutVector returns a finder like f that uses plain Go alone.
func (f *Finder) WithoutVector() *Finder {
	g := *f
	g.vector = false
	return &g
}
