package find

import "bytes"

// candidatePortable is candidate in plain Go.
func (f *Finder) candidatePortable(b []byte, n int) int {
	if f.kind == double && f.pair.mask1 == 0 {
		return f.byRarest(b, n)
	}
	off := &f.shuffle.off
	if f.kind == double {
		off = &[probes]uint64{f.pair.off1, f.pair.off2, f.pair.off1}
	}
	return f.byTable(b, n, off)
}

// byRarest searches for the first byte of the pair with the standard library, then checks the
// second.
func (f *Finder) byRarest(b []byte, n int) int {
	p := &f.pair
	first, second := b[p.off1:][:n], b[p.off2:][:n]
	for i := 0; i < n; i++ {
		skip := bytes.IndexByte(first[i:], p.byte1)
		if skip < 0 {
			return -1
		}
		i += skip
		if second[i]|p.mask2 == p.byte2 {
			return i
		}
	}
	return -1
}

// byTable checks three positions of each window.
func (f *Finder) byTable(b []byte, n int, off *[probes]uint64) int {
	t0, t1, t2 := &f.allowed[off[0]], &f.allowed[off[1]], &f.allowed[off[2]]
	b0, b1, b2 := b[off[0]:][:n], b[off[1]:][:n], b[off[2]:][:n]
	for i := range b0 {
		if m := t0[b0[i]]; m != 0 && m&t1[b1[i]]&t2[b2[i]] != 0 {
			return i
		}
	}
	return -1
}
