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

// Stats are the differences between two points in time.
type Stats struct {
	Files                 int
	Insertions, Deletions int // number of lines; binary files count only as changed
}

// A FileChange describes the change of one file between two points in time.
type FileChange struct {
	Path                  string
	Insertions, Deletions int // number of lines
	// Mode is true if only the permissions changed, Binary if lines cannot be counted.
	Mode, Binary bool
	// Foreign is true if the last change was made outside the tools.
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

// compare counts the changes of each step.
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
				return nil, fmt.Errorf("the earlier version of %s is missing: %w", step.path, err)
			}
			f.count(then, step.data)
		}
		changes = append(changes, f)
	}
	return changes, nil
}

// count counts the differing lines.
func (f *FileChange) count(then, now []byte) {
	if f.Binary = isBinary(then) || isBinary(now); f.Binary {
		return
	}
	for _, d := range lcs.DiffLines(lines(then), lines(now)) {
		f.Deletions += d.End - d.Start
		f.Insertions += d.ReplEnd - d.ReplStart
	}
}

// maxCounted is the size of the largest content whose lines are counted, and maxCountedAll the
// total size for one call of [History.Changes].
const (
	maxCounted    = 1 << 20
	maxCountedAll = 32 << 20
)

// Changes returns the known file changes of each of the messages. It is fast: for the oldest
// changes it may report only that they exist.
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
	after := map[string]version{} // file states after the snapshot
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

// A counter counts changed lines until its byte limit is reached.
type counter struct {
	store *store
	left  int // remaining bytes it may read
}

// between returns the change of a file from then to its state in after, or to now if after does
// not contain it. It reports whether the file changed.
func (c *counter) between(path string, then version, after map[string]version) (f FileChange, changed bool) {
	f = FileChange{Path: path, Binary: true}
	next, known := after[path]
	var now []byte
	if !known {
		if info, err := os.Lstat(path); err == nil && info.Size() > maxCounted {
			return f, true
		}
		var err error
		if next, now, err = currentVersion(path); err != nil {
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

// isBinary reports whether data is binary, using git's heuristic.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

func lines(data []byte) []string {
	all := strings.SplitAfter(string(data), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// A Pair is a file's content at two points in time; nil means that it did not exist.
type Pair struct {
	Path      string
	Then, Now []byte
}

// A Point is the time before a message in a session. Later are the messages after it, as in
// [Options].
type Point struct {
	ID    string
	Later []string
}

// Between returns the files that tools changed between two points and that differ. An empty ID
// means the start of the session for from, and now for to. left lists files that are too large
// or unreadable.
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

// Missing reports whether records since a point are missing, so that unknown files may have
// changed. It is false for a nil History.
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

// pairOf returns a file's content then and in after, or now if after does not contain it, and
// whether they are equal.
func pairOf(s *store, path string, then version, after map[string]version) (p Pair, same bool, err error) {
	p.Path = path
	next, known := after[path]
	if !known {
		if info, err := os.Lstat(path); err == nil && info.Size() > maxCounted {
			return p, false, errTooLarge
		}
		next, p.Now, err = currentVersion(path)
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
