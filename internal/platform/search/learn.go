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

const (
	bitsPerGram     = 3       // at least; at most twice as many
	bitsPerLongGram = 2       // the same for sets with long grams
	maxGrams        = 1 << 18 // of a file of which a set is made
	maxLearnt       = 64 << 20
	// manyBytes is from when on a file has so many grams of three bytes that they tell little. It has not
	// so many of four, for its size.
	manyBytes = 32 << 10
	// dirty is how long before it was read a file must not have changed. Clocks of file systems are
	// coarse: a file that was just changed can change again and look the same.
	dirty = 20 * time.Millisecond
)

// A learner finds out what a file holds.
type learner struct {
	nothing *scan.Searcher // finds nothing: it says whether a file is binary whatever is searched for
	long    bool           // also grams of four bytes are noted

	seen     []uint64 // a bit for each gram of three bytes
	grams    []regex.Gram
	seenLong []uint64 // a bit for the highest longBits of the hash of each gram of four
	hashes   []uint32

	window regex.Gram
	length int
	first  [2]byte
	src    io.Reader
}

const longBits = 20

func newLearner() *learner {
	q, err := regex.Compile(`\x{10FFFD}\b\x{10FFFC}`, regex.Options{}) // no word ends between these
	if err != nil {
		panic("search: " + err.Error())
	}
	return &learner{
		nothing: scan.NewSearcher(q, scan.Options{}),
		seen:    make([]uint64, 1<<24/64), seenLong: make([]uint64, 1<<longBits/64),
	}
}

// learn adds to what is known, unless the file is known already or changes too much.
func (l *learner) learn(ctx context.Context, k *knowledge, prefix string, b *walk.Batch, e walk.Entry) {
	key := k.key(prefix, e.Path())
	now := time.Now()
	before, err := b.Stat(e)
	if err != nil || before.Changed == 0 || before.Size > maxLearnt || now.UnixNano()-max(before.Changed, before.Modified) < int64(dirty) {
		return
	}
	if known := k.get(key)[0]; known != nil && known.holds(before) {
		return
	}
	f, err := b.Open(e)
	if err != nil {
		return
	}
	defer f.Close()
	what := &fact{size: before.Size, modified: before.Modified, changed: before.Changed, inode: before.Inode}
	l.long = before.Size >= manyBytes
	stats, err := l.read(ctx, f)
	after, err2 := f.Stat()
	if err != nil || err2 != nil || !what.holds(after) {
		return
	}
	what.binary = stats.Binary
	if !stats.Binary && !l.utf16() && len(l.grams) < maxGrams {
		what.grams = l.set()
	}
	k.add(key, what)
}

// read notes the grams of a text.
func (l *learner) read(ctx context.Context, src io.Reader) (scan.Stats, error) {
	for _, g := range l.grams {
		l.seen[g/64] = 0
	}
	for _, h := range l.hashes {
		l.seenLong[h>>(32-longBits)/64] = 0
	}
	l.grams, l.hashes, l.window, l.length, l.src = l.grams[:0], l.hashes[:0], 0, 0, src
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
		l.window = l.window<<8 | regex.Gram(c)
		short := l.window & 0xffffff
		if word, bit := short/64, uint64(1)<<(short%64); l.seen[word]&bit == 0 && l.length > 2 && len(l.grams) < maxGrams {
			l.seen[word] |= bit
			l.grams = append(l.grams, short)
		}
		if l.long && l.length > 3 {
			l.noteLong()
		}
	}
	return n, err
}

// noteLong notes a gram of four bytes.
func (l *learner) noteLong() {
	hash := hashGram(l.window)
	at := hash >> (32 - longBits)
	if word, bit := at/64, uint64(1)<<(at%64); l.seenLong[word]&bit == 0 && len(l.hashes) < maxGrams {
		l.seenLong[word] |= bit
		l.hashes = append(l.hashes, hash)
	}
}

// utf16 reports whether the text is searched in another form than it is in the file.
func (l *learner) utf16() bool {
	return l.length >= 2 && (l.first == [2]byte{0xff, 0xfe} || l.first == [2]byte{0xfe, 0xff})
}

// set returns the set of the grams that were noted.
func (l *learner) set() gramSet {
	n := bitsPerGram * len(l.grams)
	s := gramSet{long: l.long && len(l.hashes) < maxGrams}
	if s.long {
		n = bitsPerLongGram * (len(l.grams) + len(l.hashes))
	}
	s.bits = make([]uint64, 1<<min(bits.Len(uint(max(64, n)-1)), longBits)/64)
	for _, g := range l.grams {
		s.add(hashGram(g))
	}
	if s.long {
		for _, h := range l.hashes {
			s.add(h)
		}
	}
	return s
}
