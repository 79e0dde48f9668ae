package find

import "math/bits"

// A Set is a set of byte values.
type Set [4]uint64

// Range returns the set of bytes from lo to hi, inclusive.
func Range(lo, hi byte) Set {
	var s Set
	for c := int(lo); c <= int(hi); c++ {
		s.Add(byte(c))
	}
	return s
}

// Add adds c to s.
func (s *Set) Add(c byte) { s[c>>6] |= 1 << (c & 63) }

// Has reports whether c is in s.
func (s *Set) Has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// Union returns the union of s and t.
func (s Set) Union(t Set) Set {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// Len returns the number of bytes in s.
func (s *Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// bytes yields the bytes in s, in order.
func (s *Set) bytes(yield func(byte) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(byte(i<<6 + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// masked returns a byte c and a mask m such that s is the set of all b with b|m == c: a single
// byte, or both cases of a letter.
func (s *Set) masked() (c, m byte, ok bool) {
	var both [2]byte
	n := 0
	for b := range s.bytes {
		if n == len(both) {
			return 0, 0, false
		}
		both[n] = b
		n++
	}
	switch {
	case n == 1:
		return both[0], 0, true
	case n == 2 && both[0]|0x20 == both[1]:
		return both[1], 0x20, true
	}
	return 0, 0, false
}

// A Window is a sequence of sets, for consecutive positions.
type Window []Set

// Rate estimates how often any of the windows begins at a position in source text: 0 is never,
// 1 is everywhere. It counts only the positions that a [Finder] can check with one probe.
func Rate(windows []Window) float64 {
	total := 0.0
	for _, w := range windows {
		rates := [probes]float64{1, 1, 1}
		for i := range w {
			insert(&rates, w[i].rate())
		}
		product := 1.0
		for _, r := range rates {
			// Adjacent bytes are not independent: "th" is more common than its letters suggest.
			product *= max(r, 0.002)
		}
		total += product
	}
	return min(total, 1)
}

// insert inserts r into the ascending rates and drops the largest.
func insert(rates *[probes]float64, r float64) {
	for i := range rates {
		if r < rates[i] {
			r, rates[i] = rates[i], r
		}
	}
}
