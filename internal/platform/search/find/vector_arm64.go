package find

// vectorMin is the least number of places the vector routines take.
const vectorMin = 16

// hasVector reports true: every arm64 processor that Go runs on has NEON.
func hasVector() bool { return true }

// indexPair returns the first of the n places at b that fits p, or -1; n is at least [vectorMin].
//
//go:noescape
func indexPair(b *byte, n int, p *pair) int

// indexShuffle returns the first of the n places at b that fits s, or -1; n is at least [vectorMin].
//
//go:noescape
func indexShuffle(b *byte, n int, s *shuffle) int
