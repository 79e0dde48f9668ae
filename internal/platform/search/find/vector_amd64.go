package find

import "sync"

// vectorMin is the minimum number of positions for the vector routines.
const vectorMin = 32

// hasVector reports whether the processor has AVX2 and the system saves its registers.
var hasVector = sync.OnceValue(func() bool {
	const (
		osxsave = 1 << 27 // leaf 1, ECX
		avx     = 1 << 28
		avx2    = 1 << 5 // leaf 7, EBX
		saved   = 1<<1 | 1<<2
	)
	leaves, _, _, _ := cpuid(0, 0)
	if leaves < 7 {
		return false
	}
	if _, _, ecx, _ := cpuid(1, 0); ecx&(osxsave|avx) != osxsave|avx {
		return false
	}
	if xgetbv()&saved != saved {
		return false
	}
	_, ebx, _, _ := cpuid(7, 0)
	return ebx&avx2 != 0
})

//go:noescape
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

//go:noescape
func xgetbv() uint32

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
