package search

import (
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"adze/internal/platform/search/walk"
)

var errFull = errors.New("the memory for what is known about files is full")

// Knowledge is about the content of files. It is safe for concurrent use.
type knowledge struct {
	seed maphash.Seed

	mu    sync.RWMutex
	files map[uint64]*fact // by the hash of the absolute path
	bytes int
}

// A fact does not change. It holds as long as the file is in the state it was learnt in.
type fact struct {
	size, modified, changed int64
	inode                   uint64
	grams                   gramSet
	binary                  bool // whatever is searched for
}

// factSize is about what a fact takes besides its set.
const factSize = 120

func newKnowledge() *knowledge {
	return &knowledge{seed: maphash.MakeSeed(), files: map[uint64]*fact{}}
}

// key returns the key of a file: its path is what begins with prefix and ends with rel.
func (k *knowledge) key(prefix, rel string) uint64 {
	var room [256]byte
	return maphash.Bytes(k.seed, append(append(room[:0], prefix...), rel...))
}

func (k *knowledge) len() int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.files)
}

func (k *knowledge) full() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.bytes >= maxKnown
}

func (k *knowledge) add(key uint64, f *fact) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.files[key]; ok {
		k.bytes -= factSize + old.grams.size()
	}
	k.files[key] = f
	k.bytes += factSize + f.grams.size()
}

// holds reports whether what is known about a file is known of its present state.
func (f *fact) holds(info walk.Info) bool {
	return f.changed == info.Changed && f.modified == info.Modified && f.size == info.Size && f.inode == info.Inode && info.Regular()
}

// get returns what was learnt about the files with these keys, in their order; nil stands for nothing.
func (k *knowledge) get(keys ...uint64) []*fact {
	facts := make([]*fact, len(keys))
	k.mu.RLock()
	defer k.mu.RUnlock()
	for i, key := range keys {
		facts[i] = k.files[key]
	}
	return facts
}

// drop forgets the file at a path.
func (k *knowledge) drop(path string) {
	key := k.key(path, "")
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.files[key]; ok {
		k.bytes -= factSize + f.grams.size()
		delete(k.files, key)
	}
}

func (k *knowledge) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files, k.bytes = map[uint64]*fact{}, 0
}

// A recollection is what is known as far as it bears on one query.
type recollection struct {
	known   *knowledge
	prefix  string // of the paths of files
	needs   []hashedNeed
	unknown atomic.Int64 // files of which nothing is known
}

// candidates tells for each file of a batch whether it may have a match, and counts those that are known
// to be binary. Nil means that all may. Only what would be left out is asked about its state.
func (r *recollection) candidates(b *walk.Batch, found *collector) []bool {
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
