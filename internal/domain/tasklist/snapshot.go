package tasklist

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
)

// A snapshot is a list as read from disk. Only the BlockedBy side of a dependency is
// authoritative; Blocks is derived from it. So even if a process dies while changing two files,
// readers see a dependency on both sides or on neither.
type snapshot struct {
	tasks  map[int]*Task
	broken map[int]error // the reason a file is unusable
}

// A reader reads a list's files, and caches each as long as it is unchanged.
type reader struct {
	dir  string
	seen map[int]cachedFile
}

// A cachedFile is a file that was read.
type cachedFile struct {
	info fs.FileInfo
	task *Task
	err  error
	sure bool // later changes will show in info
}

// settled is the minimum age of a file when read for later changes to show in its times.
const settled = 100 * time.Millisecond

// all reads the whole list.
func (r *reader) all() (*snapshot, error) {
	s, err := r.look()
	if err != nil {
		return nil, err
	}
	for n, t := range s.tasks {
		s.tasks[n] = t.clone()
	}
	s.mirror()
	return s, nil
}

// look reads the whole list as stored. The tasks must not be modified.
func (r *reader) look() (*snapshot, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the task list: %w", err)
	}
	s := &snapshot{tasks: make(map[int]*Task, len(entries)), broken: map[int]error{}}
	found := make(map[int]cachedFile, len(entries))
	for _, e := range entries {
		n := numberOf(e.Name())
		if n == 0 {
			continue
		}
		if one, ok := r.one(n); ok {
			found[n] = one
			s.put(n, one)
		}
	}
	r.seen = found
	return s, nil
}

// some reads a few tasks and their dependencies. It does not fill in Blocks.
func (r *reader) some(numbers ...int) *snapshot {
	s := &snapshot{tasks: map[int]*Task{}, broken: map[int]error{}}
	for _, n := range numbers {
		s.put(n, r.fresh(n))
	}
	for _, t := range slices.Collect(maps.Values(s.tasks)) {
		for _, id := range t.BlockedBy {
			if n := number(id); s.tasks[n] == nil {
				s.put(n, r.fresh(n))
			}
		}
	}
	return s
}

// put adds a file that was read.
func (s *snapshot) put(n int, f cachedFile) {
	switch {
	case f.task != nil:
		s.tasks[n] = f.task
	case f.err != nil && !errors.Is(f.err, fs.ErrNotExist):
		s.broken[n] = f.err
	}
}

// one returns a task's file, reading it if it may have changed. It returns false if the file
// does not exist.
func (r *reader) one(n int) (cachedFile, bool) {
	info, err := os.Lstat(r.file(n))
	if errors.Is(err, fs.ErrNotExist) {
		return cachedFile{}, false
	}
	if old := r.seen[n]; err == nil && old.sure && os.SameFile(old.info, info) && old.info.Size() == info.Size() && old.info.ModTime().Equal(info.ModTime()) {
		return old, true
	}
	f := r.fresh(n)
	f.info, f.sure = info, err == nil && time.Since(info.ModTime()) > settled
	return f, !errors.Is(f.err, fs.ErrNotExist)
}

// fresh reads a task's file.
func (r *reader) fresh(n int) cachedFile {
	info, err := os.Lstat(r.file(n))
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return cachedFile{err: err}
	}
	data, err := fsys.ReadSmall(r.file(n), maxFile)
	if err != nil {
		return cachedFile{err: err}
	}
	t, err := decode(n, data)
	return cachedFile{task: t, err: err}
}

func (r *reader) file(n int) string {
	return r.dir + string(filepath.Separator) + strconv.Itoa(n) + ".json"
}

// numberOf returns the number of the task with the given file name; 0 for any other name.
func numberOf(name string) int {
	id, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0
	}
	return number(id)
}

// mirror removes dependencies on missing tasks, and fills in Blocks.
func (s *snapshot) mirror() {
	for _, t := range s.tasks {
		t.Blocks = nil
	}
	for _, n := range s.numbers() {
		t := s.tasks[n]
		t.BlockedBy = slices.DeleteFunc(sorted(t.BlockedBy), func(id string) bool { return !s.has(number(id)) })
		for _, id := range t.BlockedBy {
			if other := s.tasks[number(id)]; other != nil {
				other.Blocks = append(other.Blocks, t.ID)
			}
		}
	}
	for _, t := range s.tasks {
		t.Blocks = sorted(t.Blocks)
	}
}

// numbers returns the sorted task numbers.
func (s *snapshot) numbers() []int { return slices.Sorted(maps.Keys(s.tasks)) }

// has reports whether a task exists, even if its file is unusable.
func (s *snapshot) has(n int) bool { return s.tasks[n] != nil || s.broken[n] != nil }

// waits returns the ids of the uncompleted tasks that t waits for. A task with an unusable file
// counts as uncompleted.
func (s *snapshot) waits(t *Task) (open []string) {
	for _, id := range t.BlockedBy {
		if other := s.tasks[number(id)]; other != nil && other.Open() || s.broken[number(id)] != nil {
			open = append(open, id)
		}
	}
	return open
}

// reaches reports whether to waits for from, directly or transitively.
func (s *snapshot) reaches(from, to int) bool {
	met := map[int]bool{}
	var follow func(n int) bool
	follow = func(n int) bool {
		if n == from {
			return true
		}
		t := s.tasks[n]
		if met[n] || t == nil {
			return false
		}
		met[n] = true
		return slices.ContainsFunc(t.BlockedBy, func(id string) bool { return follow(number(id)) })
	}
	return follow(to)
}

// sorted returns ids ordered by number, without duplicates, and never nil.
func sorted(ids []string) []string {
	all := append([]string{}, ids...)
	slices.SortFunc(all, func(a, b string) int { return number(a) - number(b) })
	return slices.Compact(all)
}
