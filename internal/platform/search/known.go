package search

import (
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"adze/internal/platform/search/walk"
)

var errFull = errors.New("the memory for file data is full")

// A factStore holds facts about file contents. It is safe for concurrent use.
type factStore struct {
	seed maphash.Seed

	mu    sync.RWMutex
	files map[uint64]*fact // keyed by hash of the absolute path
	bytes int
}

// A fact is immutable. It is valid as long as the file is in the state in which it was learned.
type fact struct {
	size, modified, changed int64
	inode                   uint64
	grams                   gramSet
	binary                  bool // applies to every query
}

// factSize is the approximate size of a fact without its set.
const factSize = 120

func newKnowledge() *factStore {
	return &factStore{seed: maphash.MakeSeed(), files: map[uint64]*fact{}}
}

// key returns the key of the file at prefix+rel.
func (k *factStore) key(prefix, rel string) uint64 {
	var room [256]byte
	return maphash.Bytes(k.seed, append(append(room[:0], prefix...), rel...))
}

func (k *factStore) len() int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.files)
}

func (k *factStore) full() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.bytes >= maxKnown
}

func (k *factStore) add(key uint64, f *fact) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.files[key]; ok {
		k.bytes -= factSize + old.grams.size()
	}
	k.files[key] = f
	k.bytes += factSize + f.grams.size()
}

// holds reports whether the fact applies to the file's current state.
func (f *fact) holds(info walk.Info) bool {
	return f.changed == info.Changed && f.modified == info.Modified && f.size == info.Size && f.inode == info.Inode && info.Regular()
}

// get returns the facts for these keys, in order; nil if unknown.
func (k *factStore) get(keys ...uint64) []*fact {
	facts := make([]*fact, len(keys))
	k.mu.RLock()
	defer k.mu.RUnlock()
	for i, key := range keys {
		facts[i] = k.files[key]
	}
	return facts
}

// drop removes the file at path.
func (k *factStore) drop(path string) {
	key := k.key(path, "")
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.files[key]; ok {
		k.bytes -= factSize + f.grams.size()
		delete(k.files, key)
	}
}

func (k *factStore) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files, k.bytes = map[uint64]*fact{}, 0
}

// A queryFacts is the knowledge relevant to one query.
type queryFacts struct {
	known   *factStore
	prefix  string // prefix of the file paths
	needs   []hashedNeed
	unknown atomic.Int64 // number of files without facts
}

// candidates reports for each file of a batch whether it may have a match, and counts known
// binary files. Nil means that all may. It calls stat only for files that would be skipped.
func (r *queryFacts) candidates(b *walk.Batch, found *collector) []bool {
	if r == nil {
		return nil
	}
	keys := make([]uint64, len(b.Files))
	for i, e := range b.Files {
		keys[i] = r.known.key(r.prefix, e.Path())
	}
	may := make([]bool, len(b.Files))
	unknown := int64(0)
	for i, f := range r.known.get(keys...) {
		if f != nil && !f.binary && f.grams.meets(r.needs) {
			may[i] = true
			continue
		}
		holds := false
		if f != nil {
			info, err := b.Stat(b.Files[i])
			holds = err == nil && f.holds(info)
		}
		switch {
		case !holds:
			may[i] = true // opening it will tell
			unknown++
		case f.binary && !found.past(b.Files[i].Path(), false):
			found.addBinary()
		}
	}
	r.unknown.Add(unknown)
	return may
}
