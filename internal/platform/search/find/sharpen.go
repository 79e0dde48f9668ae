package find

import "slices"

// worthSplitting is the minimum frequency of false positives for which a window is split.
const worthSplitting = 0.005

// sharpen splits windows, as long as there may be more of them, so that a [shuffle] has fewer
// false positives: it combines any high half of a set with any low half.
func sharpen(windows []Window, length int) []Window {
	windows = slices.Clone(windows)
	for len(windows) < MaxWindows {
		worst, at, most := -1, 0, worthSplitting
		for n, w := range windows {
			for i := range min(length, len(w)) {
				if r := w[i].mistaken().rate(); r > most {
					worst, at, most = n, i, r
				}
			}
		}
		if worst < 0 {
			break
		}
		one, rest := windows[worst][at].split()
		other := slices.Clone(windows[worst])
		windows[worst] = slices.Clone(windows[worst])
		windows[worst][at], other[at] = one, rest
		windows = append(windows, other)
	}
	return windows
}

// halves returns, for each high half of a byte, the low halves that occur with it in s.
func (s *Set) halves() (low [16]uint16) {
	for c := range s.bytes {
		low[c>>4] |= 1 << (c & 15)
	}
	return low
}

// mistaken returns the bytes not in s whose high and low halves both occur in s.
func (s *Set) mistaken() *Set {
	low := s.halves()
	all := uint16(0)
	for _, l := range low {
		all |= l
	}
	var m Set
	for c := range 256 {
		if low[c>>4] != 0 && all&(1<<(c&15)) != 0 && !s.Has(byte(c)) {
			m.Add(byte(c))
		}
	}
	return &m
}

// split splits s in two: the bytes whose high half occurs with the same low halves as the first
// one's, and the others.
func (s *Set) split() (same, others Set) {
	low := s.halves()
	first := uint16(0)
	for c := range s.bytes {
		if first == 0 {
			first = low[c>>4]
		}
		if low[c>>4] == first {
			same.Add(c)
		} else {
			others.Add(c)
		}
	}
	return same, others
}
