package tfidf

// A vocabulary numbers words. It is faster than a map, which would account for half of the
// build time.
type vocabulary struct {
	slots []slot // length is a power of two; at most half full
	words []known
}

// A slot refers to a word by its index plus one.
type slot struct {
	hash uint32
	word int32
}

// A known is a word with its term's number, which is negative for a stop word.
type known struct {
	word string
	term int32
}

// newVocabulary returns a vocabulary with room for n words.
func newVocabulary(n int) *vocabulary {
	size := 64
	for size < 2*n {
		size *= 2
	}
	return &vocabulary{slots: make([]slot, size), words: make([]known, 0, n)}
}

// hash returns the FNV-1a hash of a word.
func hash(word []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range word {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

// find returns a word's entry, valid until the next call, and whether it already existed. A new
// entry has no term yet.
func (v *vocabulary) find(word []byte) (*known, bool) {
	h := hash(word)
	mask := uint32(len(v.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &v.slots[i]
		if s.word == 0 {
			v.words = append(v.words, known{word: string(word)})
			*s = slot{h, int32(len(v.words))}
			if 2*len(v.words) > len(v.slots) {
				v.grow()
			}
			return &v.words[len(v.words)-1], false
		}
		if s.hash == h && v.words[s.word-1].word == string(word) {
			return &v.words[s.word-1], true
		}
	}
}

func (v *vocabulary) grow() {
	old := v.slots
	v.slots = make([]slot, 2*len(old))
	mask := uint32(len(v.slots) - 1)
	for _, s := range old {
		if s.word == 0 {
			continue
		}
		i := s.hash & mask
		for v.slots[i].word != 0 {
			i = (i + 1) & mask
		}
		v.slots[i] = s
	}
}
