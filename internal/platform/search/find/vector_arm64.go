package find

// vectorMin is the minimum number of positions for the vector routines.
const vectorMin = 16

// hasVector returns true: every arm64 processor that Go supports has NEON.
func hasVector() bool { return true }

// indexPair returns the first of the n positions at b that matches p, or -1; n is at least
// [vectorMin].
//
//go:noescape
func indexPair(b *byte, n int, p *pair) int

// indexShuffle returns the first of the n positions at b that matches s, or -1; n is at least
// [vectorMin].
//
//go:noescape
func indexShuffle(b *byte, n int, s *shuffle) int
