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

	"adze/internal/skill"
)

// Limits of what is looked at.
const (
	maxEntries = 10_000 // of a folder
	maxDepth   = 8      // of folders of commands
)

// workers look at the disk at the same time, and chunk is how many skills of a folder one takes at a time.
const (
	workers = 2
	chunk   = 32
)

// skillFile is what the file of a skill is called, inFolder what comes after the name of its folder, and mark what the
// name of a command file ends in.
const (
	skillFile = "SKILL.md"
	separator = string(filepath.Separator)
	inFolder  = separator + skillFile
	mark      = ".md"
)

// A stamp tells versions of a file or folder apart.
type stamp struct {
	device, inode     uint64 // zero if the system has none
	size              int64
	modified, changed int64 // in nanoseconds; changed is zero if the system does not know
}

// settled is longer than any clock by which systems stamp files takes to move on.
const settled = 2 * time.Second

// sure reports whether a change after now has another stamp.
func (s stamp) sure(now time.Time) bool {
	last := s.changed
	if last == 0 {
		last = s.modified
	}
	return now.Sub(time.Unix(0, last)) > settled
}

// An info is what the system says about a file or folder.
type info struct {
	stamp
	regular, dir bool
}

// A folder is one that was looked at.
type folder struct {
	path     string
	commands bool
	single   bool // it is a file, the only command of its root
	stamp    stamp
	sure     bool // it has not changed since, if the stamp is the same
	more     bool // it holds more than is looked at
	// broken says why the folder cannot be read; empty if it can, or is not there.
	broken  string
	entries []entry

	raw string // what the index says of it, until it is needed
}

// dir returns the folder that the entries are in.
func (f *folder) dir() string {
	if f.single {
		return filepath.Dir(f.path)
	}
	return f.path
}

// An entry is a name in a folder.
type entry struct {
	name string
	file *record // nil if it is no skill
	sub  *folder // below a folder of commands; nil if it is no folder
}

// A record is what is known of the file of a skill.
type record struct {
	stamp    stamp
	sure     bool
	head     skill.Head
	problems []skill.Problem
	broken   *skill.Problem // why it is not used; nil if it is
	inFolder bool           // it is the SKILL.md of a folder, not a command file

	made *skill.Skill // the skill, once it is part of a set
}

// says reports whether two records say the same.
func (r *record) says(other *record) bool {
	return r.inFolder == other.inFolder && reflect.DeepEqual(r.broken, other.broken) && reflect.DeepEqual(r.head, other.head) && reflect.DeepEqual(r.problems, other.problems)
}

// key names a folder among those that are known.
type key struct {
	path     string
	commands bool
}

// A scanner looks at folders, and reads what changed in them.
type scanner struct {
	known map[key]*folder
	stale bool // the index does not hold what is known
	// early leaves out the files in folders that are as they were, and folders that are fixed.
	early bool

	roots []Root
	extra []*skill.Skill
	found []*folder // of each root; nil if it is not there
}

// scan looks at all roots, and reports whether something is not as it was.
func (sc *scanner) scan(roots []Root, extra []*skill.Skill) bool {
	keys, index := keysOf(roots)
	folders := make([]*folder, len(keys))
	done := make([]bool, len(keys))
	var n news
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

// news says whether workers found something that changed, or read something.
type news struct{ changed, read atomic.Bool }

func (n *news) note(w *worker) {
	if w.changed {
		n.changed.Store(true)
	}
	if w.changed || w.read {
		n.read.Store(true)
	}
}

// large looks at the skills of large folders that are not done.
func (n *news) large(folders []*folder, done []bool, now time.Time) {
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

// knows returns what is known of a folder, or nil.
func (sc *scanner) knows(k key) *folder {
	f := sc.known[k].load()
	if f == nil || (key{f.path, f.commands}) != k {
		return nil
	}
	return f
}

// A wanted folder is one that a root wants to be looked at.
type wanted struct {
	key
	fixed bool // all roots say that it is
}

// keysOf returns the folders of roots, each once, and for each root which of them it is.
func keysOf(roots []Root) (keys []wanted, index []int) {
	numbers := make(map[key]int, len(roots))
	index = make([]int, len(roots))
	for i, root := range roots {
		dir, _ := root.folder()
		k := key{dir, root.Origin.Command}
		n, ok := numbers[k]
		if !ok {
			n = len(keys)
			numbers[k] = n
			keys = append(keys, wanted{k, root.Fixed})
		}
		keys[n].fixed = keys[n].fixed && root.Fixed
		index[i] = n
	}
	return keys, index
}

// folder returns the folder that is looked at for a root, and the only name in it that counts, which is empty if all do.
func (r *Root) folder() (dir, only string) {
	if dir, ok := strings.CutSuffix(r.Dir, inFolder); ok && !r.Origin.Command {
		return filepath.Dir(dir), filepath.Base(dir)
	}
	return r.Dir, ""
}

// A job is skills of a folder that are to be looked at.
type job struct {
	folder   *folder
	place    place
	from, to int
}

// jobsOf divides the skills of large folders that are not done into jobs. Those of others were looked at with their folders.
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

// parallel calls do with the numbers below n, at the same time. A buffer is for one call after the other.
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

// A worker looks at folders and files. It notes whether one changed, and whether one was read.
type worker struct {
	now           time.Time
	changed, read bool
	left          int // entries that it may still look at
	buf           *buffer
	parents       []stamp // of the folders around, for commands
	early         bool    // see scanner
	skipped       bool    // the files of the last folder were left out
}

// folder looks at a folder, of which old is known, and returns what it is now: nil if it is not there. If there are many
// skills in it, they are not looked at yet.
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

// contents looks at what is in a folder, at a place that may be zero. If there are many skills, they are not looked at yet.
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

// inside reports whether a folder is one of those around, to which a link leads back.
func (w *worker) inside(s stamp) bool {
	return slices.ContainsFunc(w.parents, func(p stamp) bool { return s.inode != 0 && s.device == p.device && s.inode == p.inode })
}

// list reads the names in a folder, and takes over what is known of them. It returns the place of the folder, which must
// be closed.
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

// skills looks at some skills of a folder.
func (w *worker) skills(j job) {
	for i := j.from; i < j.to; i++ {
		e := &j.folder.entries[i]
		w.file(j.place, j.folder.path, e.name+inFolder, e)
	}
}

// commands looks at the commands of a folder, and of those below it.
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

// file looks at the file of a skill, called name below dir, and reads it if it may have changed.
func (w *worker) file(p place, dir, name string, e *entry) {
	i, err := p.stat(name)
	if err == nil && e.file != nil && e.file.sure && e.file.stamp == i.stamp {
		return
	}
	w.update(p, dir+separator+name, name, e, i, err)
}

// update takes over what the system says about the file of a skill, and reads it if it may have changed.
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
	case i.size > skill.MaxFile:
		broken("it has %d bytes, which is more than %d", i.size, skill.MaxFile)
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

// beginning is how much of a file is read first: more than most heads need.
const beginning = 4 << 10

// A buffer is for the beginning of a file.
type buffer [beginning]byte

// head reads what a file says of itself. Of a large file with a description only the beginning is read.
func (w *worker) head(p place, path, name string, r *record) {
	n, err := p.read(name, w.buf[:], r.stamp.size)
	if errors.Is(err, errLink) {
		var real string
		if real, err = target(path); err == nil {
			p, name = anywhere, real
			n, err = p.read(name, w.buf[:], r.stamp.size)
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
		data = make([]byte, r.stamp.size+1)
		if n, err = p.read(name, data, -1); err == nil && int64(n) <= r.stamp.size {
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

// errLink says that a file is a link.
var errLink = errors.New("it is a link")

// target returns the file that a link leads to. What is read of a skill is shown to the model without a question, so that
// a link to a file that is no text for it, such as a key, is refused.
func target(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil && !strings.EqualFold(filepath.Ext(real), mark) {
		err = fmt.Errorf("it is a link to a file whose name does not end in %s", mark)
	}
	return real, err
}

// fail notes the error of reading a skill, which may be nil.
func (r *record) fail(err error) {
	var p skill.Problem
	if errors.As(err, &p) {
		r.broken = &p
	}
}

// isGone reports whether an error means that there is nothing.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// words returns an error of the system in words.
func words(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return "it cannot be read: " + errno.Error()
	}
	return "it cannot be read: " + err.Error()
}
