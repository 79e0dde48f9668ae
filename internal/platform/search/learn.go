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
	bitsPerGram     = 3       // minimum; the maximum is twice as many
	bitsPerLongGram = 2       // same for sets with long grams
	maxGrams        = 1 << 18 // maximum number per file for which a set is built
	maxLearnt       = 64 << 20
	// manyBytes is the file size from which three-byte grams are too numerous to be useful.
	// Four-byte grams are not.
	manyBytes = 32 << 10
	// dirty is the minimum time between a file's last change and its read. File system clocks
	// are coarse: a file that has just changed can change again without a visible difference.
	dirty = 20 * time.Millisecond
)

// A learner determines the grams in a file.
type learner struct {
	nothing *scan.Searcher // matches nothing: detects binary files for every query
	long    bool           // also collects four-byte grams

	seen     []uint64 // a bit for each three-byte gram
	grams    []regex.Gram
	seenLong []uint64 // a bit for the highest longBits of each four-byte gram's hash
	hashes   []uint32

	window regex.Gram
	length int
	first  [2]byte
	src    io.Reader
}

const longBits = 20

func newLearner() *learner {
	q, err := regex.Compile(`\x{10FFFD}\b\x{10FFFC}`, regex.Options{}) // never matches: no word ends between these
	if err != nil {
		panic("search: " + err.Error())
	}
	return &learner{
		nothing: scan.NewSearcher(q, scan.Options{}),
		seen:    make([]uint64, 1<<24/64), seenLong: make([]uint64, 1<<longBits/64),
	}
}

// learn adds a fact, unless the file is already known or changes too often.
func (l *learner) learn(ctx context.Context, k *factStore, prefix string, b *walk.Batch, e walk.Entry) {
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

// read collects the grams of a text.
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

// Read passes the text to the searcher and inspects it on the way.
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

// noteLong records a four-byte gram.
func (l *learner) noteLong() {
	hash := hashGram(l.window)
	at := hash >> (32 - longBits)
	if word, bit := at/64, uint64(1)<<(at%64); l.seenLong[word]&bit == 0 && len(l.hashes) < maxGrams {
		l.seenLong[word] |= bit
		l.hashes = append(l.hashes, hash)
	}
}

// utf16 reports whether the text is searched in another encoding than the file's.
func (l *learner) utf16() bool {
	return l.length >= 2 && (l.first == [2]byte{0xff, 0xfe} || l.first == [2]byte{0xfe, 0xff})
}

// set returns the set of the collected grams.
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
