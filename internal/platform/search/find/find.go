// Package find searches buffers for short byte patterns at memory speed. It has routines for
// AVX2 and NEON and plain Go for other processors, all with the same results.
package find

import (
	"bytes"
	"slices"
)

// MaxWindows is the maximum number of windows in a finder.
const MaxWindows = 8

// MaxLen is the number of positions of a window that a finder checks.
const MaxLen = 64

// probes is the number of positions of a window that are checked first.
const probes = 3

// commonRate is the maximum frequency of a byte for which it is searched alone.
const commonRate = 0.002

// A Finder finds the positions where any of its windows begins. It is immutable and safe for
// concurrent use.
type Finder struct {
	// allowed[i][c] has bit w set if window w allows c at position i, or is shorter than that.
	allowed [][256]uint8
	// ended[i] has bit w set if window w has at most i positions.
	ended  []uint8
	minLen int

	kind    kind
	pair    pair
	shuffle shuffle
	vector  bool // use vector instructions
}

type kind uint8

const (
	single  kind = iota // pair.byte1 at pair.off1, with the standard library
	double              // pair
	several             // shuffle
)

// A pair is two bytes at fixed offsets from the start of the window. A byte b of the text
// matches the first if b|mask1 == byte1.
type pair struct {
	off1, off2   uint64
	byte1, mask1 uint8
	byte2, mask2 uint8
}

// A shuffle holds, for each of three positions, the windows that allow a byte with a given low
// half and with a given high half. A byte matches if both agree on a window, which may accept
// more bytes than the window contains.
type shuffle struct {
	off    [probes]uint64
	lo, hi [probes][16]uint8
}

// New returns a finder for 1 to [MaxWindows] non-empty windows. It ignores positions after the
// first [MaxLen].
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

// choosePair chooses the two rarest positions that a masked comparison can test.
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
	// A single common byte has too many hits; three sets together are rarer.
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

// chooseShuffle chooses, one after the other, the three positions that together have the fewest
// hits.
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

// Next returns the first position at or after from where a window begins, or -1.
func (f *Finder) Next(b []byte, from int) int {
	for {
		n := len(b) - f.minLen + 1 - from // number of remaining positions
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

// candidate returns the first of b's first n positions that passes the probes, or -1. All
// probes for these positions are within b.
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

// WithoutVector returns a copy of f that uses only plain Go.
func (f *Finder) WithoutVector() *Finder {
	g := *f
	g.vector = false
	return &g
}
