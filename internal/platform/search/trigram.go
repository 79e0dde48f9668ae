package search

import (
	"context"
	"io"
	"math/bits"
	"time"

	"adze/internal/platform/search/regex"
	"adze/internal/platform/search/scan"
	"adze/internal/platform/search/walk"
)

// A trigramSet tells of trigrams that a text does not have them, or that it may. It has a power of two
// of bits, of which each trigram of the text sets one. An empty set knows nothing.
type trigramSet []uint64

func (s trigramSet) size() int { return 8 * len(s) }

// hashTrigram spreads trigrams over 32 bits, of which a set uses the highest.
func hashTrigram(t regex.Trigram) uint32 { return uint32(t) * 0x9e3779b1 }

func (s trigramSet) place(hash uint32) uint32 {
	return hash >> (32 - uint(bits.TrailingZeros(uint(len(s)*64))))
}

func (s trigramSet) has(hash uint32) bool {
	at := s.place(hash)
	return s[at/64]&(1<<(at%64)) != 0
}

// meets reports whether the text may meet all needs.
func (s trigramSet) meets(needs []hashedNeed) bool {
	if len(s) == 0 {
		return true
	}
	for _, need := range needs {
		if !s.meetsOne(need) {
			return false
		}
	}
	return true
}

func (s trigramSet) meetsOne(need hashedNeed) bool {
next:
	for _, alternative := range need {
		for _, hash := range alternative {
			if !s.has(hash) {
				continue next
			}
		}
		return true
	}
	return false
}

const (
	bitsPerTrigram = 3       // at least; at most twice as many
	maxTrigrams    = 1 << 18 // of a file of which a set is made
	maxLearnt      = 64 << 20
	// dirty is how long before it was read a file must not have changed. Clocks of file systems are
	// coarse: a file that was just changed can change again and look the same.
	dirty = 20 * time.Millisecond
)

// A learner finds out what a file holds.
type learner struct {
	nothing *scan.Searcher // finds nothing: it says whether a file is binary whatever is searched for
	seen    []uint64       // a bit for each trigram
	list    []regex.Trigram
	window  regex.Trigram
	length  int
	first   [2]byte
	src     io.Reader
}

func newLearner() *learner {
	q, err := regex.Compile(`\x{10FFFD}\b\x{10FFFC}`, regex.Options{}) // no word ends between these
	if err != nil {
		panic("search: " + err.Error())
	}
	return &learner{nothing: scan.NewSearcher(q, scan.Options{}), seen: make([]uint64, 1<<24/64)}
}

// learn adds to what is known, unless the file is known already or changes too much.
func (l *learner) learn(ctx context.Context, k *knowledge, prefix string, b *walk.Batch, e walk.Entry) {
	key := k.key(prefix, e.Path())
	now := time.Now()
	before, err := b.Stat(e)
	if err != nil || before.Changed == 0 || before.Size > maxLearnt || now.UnixNano()-max(before.Changed, before.Modified) < int64(dirty) {
		return
	}
	if known, ok := k.get(key); ok && known.holds(before) {
		return
	}
	f, err := b.Open(e)
	if err != nil {
		return
	}
	defer f.Close()
	what := fact{size: before.Size, modified: before.Modified, changed: before.Changed, inode: before.Inode}
	stats, err := l.read(ctx, f)
	after, err2 := f.Stat()
	if err != nil || err2 != nil || !what.holds(after) {
		return
	}
	what.binary = stats.Binary
	if !stats.Binary && !l.utf16() && len(l.list) < maxTrigrams {
		what.trigrams = l.set()
	}
	k.add(key, what)
}

// read notes the trigrams of a text.
func (l *learner) read(ctx context.Context, src io.Reader) (scan.Stats, error) {
	for _, t := range l.list {
		l.seen[t/64] = 0
	}
	l.list, l.window, l.length, l.src = l.list[:0], 0, 0, src
	return l.nothing.Search(ctx, l, nil)
}

// Read lets the searcher read the text, and looks at it on the way.
func (l *learner) Read(p []byte) (int, error) {
	n, err := l.src.Read(p)
	for _, c := range p[:n] {
		if l.length < len(l.first) {
			l.first[l.length] = c
		}
		l.length++
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		l.window = (l.window<<8 | regex.Trigram(c)) & 0xffffff
		if word, bit := l.window/64, uint64(1)<<(l.window%64); l.seen[word]&bit == 0 && l.length > 2 && len(l.list) < maxTrigrams {
			l.seen[word] |= bit
			l.list = append(l.list, l.window)
		}
	}
	return n, err
}

// utf16 reports whether the text is searched in another form than it is in the file.
func (l *learner) utf16() bool {
	return l.length >= 2 && (l.first == [2]byte{0xff, 0xfe} || l.first == [2]byte{0xfe, 0xff})
}

// set returns the set of the trigrams that were noted.
func (l *learner) set() trigramSet {
	n := max(64, bitsPerTrigram*len(l.list))
	s := make(trigramSet, (1<<bits.Len(uint(n-1)))/64)
	for _, t := range l.list {
		at := s.place(hashTrigram(t))
		s[at/64] |= 1 << (at % 64)
	}
	return s
}
