package filehistory

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Stats are the differences between two times.
type Stats struct {
	Files                 int
	Insertions, Deletions int // in lines; files that are not text count as changed only
}

// A FileChange is what became of one file between two times.
type FileChange struct {
	Path                  string
	Insertions, Deletions int // in lines
	// Mode says that only its permissions changed, and Binary that its lines cannot be counted.
	Mode, Binary bool
	// Foreign says that others than the tools changed it last.
	Foreign bool
}

func (s *Stats) add(f FileChange) {
	if f.Mode {
		return
	}
	s.Files++
	s.Insertions += f.Insertions
	s.Deletions += f.Deletions
}

// compare counts what changed from then to now.
func compare(s *store, steps []step) ([]FileChange, error) {
	var changes []FileChange
	for _, step := range steps {
		f := FileChange{Path: step.path, Foreign: step.foreign, Mode: step.then.hash == step.now.hash}
		if !f.Mode {
			then, err := step.fresh, error(nil)
			if then == nil {
				then, err = s.content(step.then)
			}
			if err != nil {
				return nil, fmt.Errorf("what %s was is not there any more: %w", step.path, err)
			}
			f.count(then, step.data)
		}
		changes = append(changes, f)
	}
	return changes, nil
}

// count counts the lines that differ.
func (f *FileChange) count(then, now []byte) {
	if f.Binary = isBinary(then) || isBinary(now); f.Binary {
		return
	}
	for _, d := range lcs.DiffLines(lines(then), lines(now)) {
		f.Deletions += d.End - d.Start
		f.Insertions += d.ReplEnd - d.ReplStart
	}
}

// maxCounted is the size of the largest content whose lines are counted, and maxCountedAll that of all together in one
// call of [History.Changes].
const (
	maxCounted    = 1 << 20
	maxCountedAll = 32 << 20
)

// Changes returns what was done to files in answer to each of the messages with these ids, as far as it is known. It does
// not take long: of the oldest changes it may say only that there are some.
func (h *History) Changes(ids []string) map[string][]FileChange {
	if h == nil {
		return nil
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	changes := map[string][]FileChange{}
	after := map[string]version{} // what files were behind the snapshot
	c := counter{store: h.store, left: maxCountedAll}
	for _, s := range slices.Backward(h.snapshots) {
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			then := s.files[path][0].version
			if wanted[s.id] {
				if f, changed := c.between(path, then, after); changed {
					changes[s.id] = append(changes[s.id], f)
				}
			}
			after[path] = then
		}
	}
	return changes
}

// A counter counts changed lines, until it has read enough.
type counter struct {
	store *store
	left  int // how many bytes it may still read
}

// between returns what became of a file from then to the time that after is of, or to now if that does not say. It
// reports whether it changed.
func (c *counter) between(path string, then version, after map[string]version) (f FileChange, changed bool) {
	f = FileChange{Path: path, Binary: true}
	next, known := after[path]
	var now []byte
	if !known {
		if info, err := os.Lstat(path); err == nil && info.Size() > maxCounted {
			return f, true
		}
		var err error
		if next, now, err = look(path); err != nil {
			return f, true
		}
	}
	if next.hash == then.hash {
		f.Mode, f.Binary = true, false
		return f, !next.absent() && next.mode != then.mode
	}
	if c.left <= 0 {
		return f, true
	}
	before, err := c.store.content(then)
	if err == nil && known {
		now, err = c.store.content(next)
	}
	c.left -= len(before) + len(now)
	if err == nil && len(before) <= maxCounted && len(now) <= maxCounted {
		f.count(before, now)
	}
	return f, true
}

// isBinary reports whether data is not text, by the way git does.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

func lines(data []byte) []string {
	all := strings.SplitAfter(string(data), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// A Pair is a file as it was and as it is; nil means that there is none.
type Pair struct {
	Path      string
	Then, Now []byte
}

// A Point is a time in a session: before the message with an id. Later are the messages after it, as in [Options].
type Point struct {
	ID    string
	Later []string
}

// Between returns the files that tools have changed from one point to another, and that differ. Without an id, from is the
// beginning of the session and to is now. Those that are too large, or cannot be read, are named in left.
func Between(h *History, from, to Point) (pairs []Pair, left []string, err error) {
	if h == nil {
		return nil, nil, ErrOff
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	begin, end := 0, len(h.snapshots)
	if from.ID != "" {
		begin, _, err = h.find(from.ID, from.Later)
	}
	if err == nil && to.ID != "" {
		end, _, err = h.find(to.ID, to.Later)
	}
	if err != nil {
		return nil, nil, err
	}
	then, after := h.at(begin), h.at(max(begin, end))
	for _, path := range slices.Sorted(maps.Keys(then)) {
		p, same, err := pairOf(h.store, path, then[path], after)
		switch {
		case same:
		case err != nil:
			left = append(left, path)
		default:
			pairs = append(pairs, p)
		}
	}
	return pairs, left, nil
}

// Missing reports whether records of what happened since a point are missing, so that files may have changed of which the
// history knows nothing. A nil History misses none.
func Missing(h *History, since Point) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before := int64(0)
	if since.ID != "" {
		var err error
		if _, before, err = h.find(since.ID, since.Later); err != nil {
			before = 0
		}
	}
	return h.store.gapAfter(before) > 0
}

var errTooLarge = errors.New("too large")

// pairOf returns a file as it was then and at the time that after is of, or now if that does not say, and whether it is the
// same.
func pairOf(s *store, path string, then version, after map[string]version) (p Pair, same bool, err error) {
	p.Path = path
	next, known := after[path]
	if !known {
		if info, err := os.Lstat(path); err == nil && info.Size() > maxCounted {
			return p, false, errTooLarge
		}
		next, p.Now, err = look(path)
	}
	if err != nil || next.hash == then.hash {
		return p, err == nil, err
	}
	if known && !next.absent() {
		p.Now, err = s.content(next)
	}
	if err == nil && !then.absent() {
		p.Then, err = s.content(then)
	}
	if len(p.Then) > maxCounted || len(p.Now) > maxCounted {
		err = errTooLarge
	}
	return p, false, err
}
