package search

import (
	"math/bits"

	"adze/internal/platform/search/regex"
)

// A gramSet reports whether a text may contain given grams, like a Bloom filter. Its size is a
// power of two of bits, and each gram of the text sets one bit. An empty set knows nothing.
type gramSet struct {
	bits []uint64
	long bool // includes four-byte grams
}

func (s *gramSet) size() int { return 8 * len(s.bits) }

// hashGram hashes grams to 32 bits, of which a set uses the highest.
func hashGram(g regex.Gram) uint32 { return uint32(g) * 0x9e3779b1 }

func (s *gramSet) place(hash uint32) uint32 {
	return hash >> (32 - uint(bits.TrailingZeros(uint(len(s.bits)*64))))
}

func (s *gramSet) add(hash uint32) {
	at := s.place(hash)
	s.bits[at/64] |= 1 << (at % 64)
}

func (s *gramSet) has(hashes []uint32) bool {
	for _, hash := range hashes {
		if at := s.place(hash); s.bits[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

// meets reports whether the text may satisfy all needs.
func (s *gramSet) meets(needs []hashedNeed) bool {
	if len(s.bits) == 0 {
		return true
	}
	for _, need := range needs {
		if !s.meetsOne(need) {
			return false
		}
	}
	return true
}

func (s *gramSet) meetsOne(need hashedNeed) bool {
	for _, alternative := range need {
		if s.has(alternative.short) && (!s.long || s.has(alternative.long)) {
			return true
		}
	}
	return false
}

// A hashedNeed is a [regex.Need] with hashed grams.
type hashedNeed []struct{ short, long []uint32 }

func hashNeeds(needs []regex.Need) []hashedNeed {
	var out []hashedNeed
	for _, need := range needs {
		hashed := make(hashedNeed, len(need))
		for i, grams := range need {
			for _, g := range grams {
				to := &hashed[i].short
				if g.Long() {
					to = &hashed[i].long
				}
				*to = append(*to, hashGram(g))
			}
		}
		out = append(out, hashed)
	}
	return out
}
