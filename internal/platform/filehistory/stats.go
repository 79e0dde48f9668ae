package filehistory

import (
	"bytes"
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

// maxCounted is the size of the largest content whose lines [History.Changes] counts.
const maxCounted = 1 << 20

// Changes returns what was done to files in answer to each of the messages with these ids, as far as it is known.
func (h *History) Changes(ids []string) map[string][]FileChange {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	changes := map[string][]FileChange{}
	for i, s := range h.snapshots {
		if !slices.Contains(ids, s.id) {
			continue
		}
		after := h.at(i + 1)
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			if f, changed := between(h.store, path, s.files[path][0].version, after); changed {
				changes[s.id] = append(changes[s.id], f)
			}
		}
	}
	return changes
}

// between returns what became of a file from then to the time that after is of, or to now if that does not say. It
// reports whether it changed.
func between(s *store, path string, then version, after map[string]version) (f FileChange, changed bool) {
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
	before, err := s.content(then)
	if err == nil && known {
		now, err = s.content(next)
	}
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

// Since returns the files that tools have changed since a message, or since the session began if id is empty, and that
// differ from what they were. Those that are too large, or cannot be read, are named in left.
func Since(h *History, id string, later []string) (pairs []Pair, left []string, err error) {
	if h == nil {
		return nil, nil, ErrOff
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	from := 0
	if id != "" {
		if from, _, err = h.find(id, later); err != nil {
			return nil, nil, err
		}
	}
	then := h.at(from)
	for _, path := range slices.Sorted(maps.Keys(then)) {
		info, err := os.Lstat(path)
		if err == nil && info.Size() > maxCounted {
			left = append(left, path)
			continue
		}
		now, data, err := look(path)
		if err == nil && now.hash == then[path].hash {
			continue
		}
		p := Pair{Path: path, Now: data}
		if err == nil && !then[path].absent() {
			p.Then, err = h.store.content(then[path])
		}
		if err != nil || len(p.Then) > maxCounted {
			left = append(left, path)
			continue
		}
		pairs = append(pairs, p)
	}
	return pairs, left, nil
}
