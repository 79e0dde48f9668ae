package library

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/filestate"
)

// Scan limits.
const (
	maxEntries = 10_000 // per directory
	maxDepth   = 8      // command directory depth
)

// workers is the number of concurrent disk workers, and chunk the number of skills in one job.
const (
	workers = 2
	chunk   = 32
)

// skillFile is the name of a skill's file, inFolder the suffix of its path after the directory
// name, and mark the extension of command files.
const (
	skillFile = "SKILL.md"
	separator = string(filepath.Separator)
	inFolder  = separator + skillFile
	mark      = ".md"
)

// settled exceeds the resolution of any file system clock.
const settled = 2 * time.Second

// sure reports whether any change after now will have another stamp.
func (i info) sure(now time.Time) bool {
	last := i.stamp.CTime
	if last == 0 {
		last = i.stamp.MTime
	}
	return now.Sub(time.Unix(0, last)) > settled
}

// An info is the stat result for a file or directory.
type info struct {
	stamp        filestate.Stamp
	regular, dir bool
}

// A folder is a scanned directory.
type folder struct {
	path     string
	commands bool
	single   bool // path is a file, the only command of its root
	stamp    filestate.Stamp
	sure     bool // an equal stamp means that it has not changed
	more     bool // exceeds the entry limit
	// broken is the reason the directory can't be read; empty if it can or does not exist.
	broken  string
	entries []entry
}

// dir returns the directory that contains the entries.
func (f *folder) dir() string {
	if f.single {
		return filepath.Dir(f.path)
	}
	return f.path
}

// An entry is a name in a directory.
type entry struct {
	name string
	file *record // nil if not a skill
	sub  *folder // subdirectory of commands; nil if not a directory
}

// A record holds the parsed front matter and state of a skill file.
type record struct {
	stamp    filestate.Stamp
	sure     bool
	head     skill.Head
	problems []skill.Problem
	broken   *skill.Problem // the reason it is not used; nil if it is
	inFolder bool           // SKILL.md of a directory, rather than a command file

	made *skill.Skill // the skill, once part of a set
}

// says reports whether two records have the same content.
func (r *record) says(other *record) bool {
	return r.inFolder == other.inFolder && reflect.DeepEqual(r.broken, other.broken) && reflect.DeepEqual(r.head, other.head) && reflect.DeepEqual(r.problems, other.problems)
}

// A key identifies a known directory.
type key struct {
	path     string
	commands bool
}

// A scanner scans directories and reads changed files.
type scanner struct {
	known map[key]*folder
	stale bool // the index is out of date
	// early skips the files in unchanged directories, and fixed directories.
	early bool

	roots []Root
	extra []*skill.Skill
	found []*folder // one per root; nil if missing
}

// scan scans all roots and reports whether anything has changed.
func (sc *scanner) scan(roots []Root, extra []*skill.Skill) bool {
	keys, index := keysOf(roots)
	folders := make([]*folder, len(keys))
	done := make([]bool, len(keys))
	var n scanStats
	now := time.Now()
	parallel(len(keys), func(i int, buf *buffer) {
		w := worker{now: now, left: maxEntries, early: sc.early, buf: buf}
		old := sc.knows(keys[i].key)
		if sc.early && keys[i].fixed && old != nil {
			folders[i], done[i] = old, true
			return
		}
		folders[i] = w.folder(old, keys[i].key, 0)
		done[i] = w.skipped
		n.note(&w)
	})
	n.large(folders, done, now)
	known := make(map[key]*folder, len(keys))
	for i, f := range folders {
		if f != nil {
			known[keys[i].key] = f
		}
	}
	found := make([]*folder, len(roots))
	for i := range roots {
		found[i] = folders[index[i]]
	}
	sc.stale = sc.stale || n.read.Load() || len(known) != len(sc.known)
	different := n.changed.Load() || !slices.Equal(roots, sc.roots) || !slices.Equal(extra, sc.extra)
	sc.known, sc.roots, sc.extra, sc.found = known, roots, extra, found
	return different
}

// scanStats records whether workers found a change or read a file.
type scanStats struct{ changed, read atomic.Bool }

func (n *scanStats) note(w *worker) {
	if w.changed {
		n.changed.Store(true)
	}
	if w.changed || w.read {
		n.read.Store(true)
	}
}

// large scans the skills of large directories that are not done.
func (n *scanStats) large(folders []*folder, done []bool, now time.Time) {
	jobs := jobsOf(folders, done)
	parallel(len(jobs), func(i int, buf *buffer) {
		w := worker{now: now, buf: buf}
		w.skills(jobs[i])
		n.note(&w)
	})
	for i, j := range jobs {
		if i+1 == len(jobs) || jobs[i+1].folder != j.folder {
			j.place.close()
		}
	}
}

// knows returns the known state of a directory, or nil.
func (sc *scanner) knows(k key) *folder {
	f := sc.known[k]
	if f == nil || (key{f.path, f.commands}) != k {
		return nil
	}
	return f
}

// A scanTarget is a directory to scan for a root.
type scanTarget struct {
	key
	fixed bool // true if all roots mark it as fixed
}

// keysOf returns the distinct directories of roots, and for each root the index of its
// directory.
func keysOf(roots []Root) (keys []scanTarget, index []int) {
	numbers := make(map[key]int, len(roots))
	index = make([]int, len(roots))
	for i, root := range roots {
		dir, _ := root.folder()
		k := key{dir, root.Origin.Command}
		n, ok := numbers[k]
		if !ok {
			n = len(keys)
			numbers[k] = n
			keys = append(keys, scanTarget{k, root.Fixed})
		}
		keys[n].fixed = keys[n].fixed && root.Fixed
		index[i] = n
	}
	return keys, index
}

// folder returns the directory to scan for a root, and the only name in it to use; an empty
// name means all.
func (r *Root) folder() (dir, only string) {
	if dir, ok := strings.CutSuffix(r.Dir, inFolder); ok && !r.Origin.Command {
		return filepath.Dir(dir), filepath.Base(dir)
	}
	return r.Dir, ""
}

// A job is a range of a directory's skills to check.
type job struct {
	folder   *folder
	place    place
	from, to int
}

// jobsOf divides the skills of large directories that are not done into jobs. Small directories
// are checked in one go with their entries.
func jobsOf(folders []*folder, done []bool) []job {
	var jobs []job
	for i, f := range folders {
		if f == nil || done[i] || f.commands || len(f.entries) <= chunk {
			continue
		}
		p := at(f.path, true)
		for from := 0; from < len(f.entries); from += chunk {
			jobs = append(jobs, job{f, p, from, min(from+chunk, len(f.entries))})
		}
	}
	return jobs
}

// parallel calls do concurrently with the numbers below n. A buffer is used by only one call at
// a time.
func parallel(n int, do func(i int, buf *buffer)) {
	var next atomic.Int64
	run := func() {
		var buf buffer
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i, &buf)
		}
	}
	var group sync.WaitGroup
	for range min(n, workers) - 1 {
		group.Go(run)
	}
	run()
	group.Wait()
}

// A worker scans directories and files. It records whether any changed and whether any was
// read.
type worker struct {
	now           time.Time
	changed, read bool
	left          int // remaining entry budget
	buf           *buffer
	parents       []filestate.Stamp // stamps of the enclosing command directories
	early         bool              // see scanner
	skipped       bool              // files of the last directory were skipped
}

// folder scans a directory whose previous state is old, and returns its current state, or nil
// if it does not exist. The skills of a large directory are not checked yet.
func (w *worker) folder(old *folder, k key, depth int) *folder {
	i, err := anywhere.stat(k.path)
	if err != nil && isGone(err) || err == nil && w.inside(i.stamp) {
		w.changed = w.changed || old != nil
		return nil
	}
	f := &folder{path: k.path, commands: k.commands, stamp: i.stamp, sure: i.sure(w.now)}
	p := place{}
	switch {
	case err != nil:
		f.broken = words(err)
	case k.commands && i.regular && depth == 0:
		f.single, f.entries = true, []entry{{name: filepath.Base(k.path)}}
		if old != nil && old.single {
			f.entries = old.entries
		}
	case !i.dir:
		f.broken = "it is not a folder"
	case old != nil && old.sure && old.stamp == i.stamp && old.broken == "" && len(old.entries) <= w.left:
		if f = old; w.early {
			w.skipped = true
			return f
		}
	default:
		p = w.list(f, old)
		defer p.close()
	}
	if f.broken != "" && (old == nil || old.broken != f.broken) {
		w.changed = true
	}
	w.contents(f, p, depth)
	return f
}

// contents scans the entries of a directory; p may be zero. The skills of a large directory are
// not checked yet.
func (w *worker) contents(f *folder, p place, depth int) {
	w.left -= len(f.entries)
	if p == (place{}) {
		p = at(f.dir(), false)
	}
	switch {
	case f.commands:
		w.parents = append(w.parents, f.stamp)
		w.commands(f, p, depth)
		w.parents = w.parents[:len(w.parents)-1]
	case len(f.entries) <= chunk:
		w.skills(job{f, p, 0, len(f.entries)})
	}
}

// inside reports whether a directory encloses the current one, which means that a symlink forms
// a cycle.
func (w *worker) inside(s filestate.Stamp) bool {
	return slices.ContainsFunc(w.parents, func(p filestate.Stamp) bool { return s.Inode != 0 && s.Dev == p.Dev && s.Inode == p.Inode })
}

// list reads the names in a directory and carries over their known state. It returns the
// directory's place, which must be closed.
func (w *worker) list(f, old *folder) place {
	p, names, more, err := list(f.path)
	if err != nil {
		f.broken = words(err)
		return p
	}
	if len(names) > w.left {
		names, more = names[:w.left], true
	}
	w.read = true
	f.more, f.entries = more, make([]entry, 0, len(names))
	for _, name := range names {
		if name[0] == '.' {
			continue
		}
		e := entry{name: name}
		if old != nil {
			if i, ok := slices.BinarySearchFunc(old.entries, name, func(e entry, name string) int { return strings.Compare(e.name, name) }); ok {
				e = old.entries[i]
			}
		}
		f.entries = append(f.entries, e)
	}
	w.changed = w.changed || old == nil || old.more != more || old.broken != "" || old.single ||
		!slices.EqualFunc(f.entries, old.entries, func(a, b entry) bool { return a.name == b.name })
	return p
}

// skills checks some skills of a directory.
func (w *worker) skills(j job) {
	for i := j.from; i < j.to; i++ {
		e := &j.folder.entries[i]
		w.file(j.place, j.folder.path, e.name+inFolder, e)
	}
}

// commands scans the commands of a directory and its subdirectories.
func (w *worker) commands(f *folder, p place, depth int) {
	for i := range f.entries {
		e := &f.entries[i]
		if strings.HasSuffix(e.name, mark) {
			if i, err := p.stat(e.name); err != nil || !i.dir {
				e.sub = nil
				w.update(p, f.dir()+separator+e.name, e.name, e, i, err)
				continue
			}
		}
		if w.file(p, f.path, e.name+inFolder, e); e.file != nil || depth == maxDepth {
			e.sub = nil
			continue
		}
		if i, err := p.stat(e.name); err != nil || !i.dir {
			w.changed = w.changed || e.sub != nil
			e.sub = nil
			continue
		}
		e.sub = w.folder(e.sub, key{f.path + separator + e.name, true}, depth+1)
	}
}

// file checks the skill file name in dir, and reads it if it may have changed.
func (w *worker) file(p place, dir, name string, e *entry) {
	i, err := p.stat(name)
	if err == nil && e.file != nil && e.file.sure && e.file.stamp == i.stamp {
		return
	}
	w.update(p, dir+separator+name, name, e, i, err)
}

// update records the stat result of a skill file, and reads the file if it may have changed.
func (w *worker) update(p place, path, name string, e *entry, i info, err error) {
	if err == nil && e.file != nil && e.file.sure && e.file.stamp == i.stamp {
		return
	}
	if err != nil && isGone(err) {
		w.changed = w.changed || e.file != nil
		e.file = nil
		return
	}
	r := &record{stamp: i.stamp, sure: err == nil && i.sure(w.now), inFolder: name != e.name}
	broken := func(format string, args ...any) {
		r.broken = &skill.Problem{File: path, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case err != nil:
		broken("%s", words(err))
	case !i.regular:
		broken("it is not a regular file")
	case i.stamp.Size > skill.MaxFile:
		broken("it has %d bytes, which is more than %d", i.stamp.Size, skill.MaxFile)
	default:
		w.head(p, path, name, r)
	}
	w.read = true
	if e.file != nil && e.file.says(r) {
		e.file.stamp, e.file.sure = r.stamp, r.sure
		return
	}
	e.file = r
	w.changed = true
}

// beginning is the size of the first read, which covers most front matter.
const beginning = 4 << 10

// A buffer holds the beginning of a file.
type buffer [beginning]byte

// head reads a file's front matter. Only the beginning of a large file with a description is
// read.
func (w *worker) head(p place, path, name string, r *record) {
	n, err := p.read(name, w.buf[:], r.stamp.Size)
	if errors.Is(err, errLink) {
		var real string
		if real, err = target(path); err == nil {
			p, name = anywhere, real
			n, err = p.read(name, w.buf[:], r.stamp.Size)
		}
	}
	if err == nil {
		data := w.buf[:n]
		if n == beginning {
			data = data[:bytes.LastIndexByte(data, '\n')+1]
		}
		var whole bool
		if r.head, r.problems, err, whole = skill.ParseHead(path, data); whole {
			r.fail(err)
			return
		}
		data = make([]byte, r.stamp.Size+1)
		if n, err = p.read(name, data, -1); err == nil && int64(n) <= r.stamp.Size {
			r.head, _, r.problems, err = skill.Parse(path, data[:n])
			r.fail(err)
			return
		}
	}
	r.broken = &skill.Problem{File: path, Text: "it grows while it is read"}
	if err != nil {
		r.broken.Text = words(err)
	}
}

// errLink is returned if a file is a symlink.
var errLink = errors.New("it is a link")

// target returns the target of a symlink. Skill text is shown to the model without a prompt, so
// a symlink to anything but a Markdown file, such as a key, is refused.
func target(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil && !strings.EqualFold(filepath.Ext(real), mark) {
		err = fmt.Errorf("it is a link to a file whose name does not end in %s", mark)
	}
	return real, err
}

// fail records the error of reading a skill, which may be nil.
func (r *record) fail(err error) {
	var p skill.Problem
	if errors.As(err, &p) {
		r.broken = &p
	}
}

// isGone reports whether an error means that the file does not exist.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// words returns a short message for a system error.
func words(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return "it cannot be read: " + errno.Error()
	}
	return "it cannot be read: " + err.Error()
}
