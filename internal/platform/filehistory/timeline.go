package filehistory

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// A timeline is the snapshots of a session, oldest first.
type timeline struct {
	snapshots []*snapshot
	ids       map[string]*snapshot // by id and alias
	current   *snapshot
	// left is how the tools last left a file; what is otherwise there now was changed by others.
	left map[string]version
	// next is what a tool, or a rewind, was about to give a file: if the process was killed it may have got it.
	next map[string]version
	// begun is a rewind that has not ended, or nil.
	begun *rewinding
	// backups are those of changes that have a number, by that, and changes is the last number.
	backups map[int64]*backup
	changes int64
	// clock counts what was recorded: snapshots, backups, and what was made of files.
	clock int64
	// lost are the files that damaged records speak of, with the number of the last such record.
	lost map[string]int64
}

func newTimeline() timeline {
	return timeline{ids: map[string]*snapshot{}, left: map[string]version{}, next: map[string]version{}, lost: map[string]int64{}, backups: map[int64]*backup{}}
}

// A rewinding is a rewind to a message, with the id that takes it back.
type rewinding struct{ to, undo string }

// own reports whether the tools left the file at path as it is now, or were about to when the process was killed.
func own(t *timeline, path string, now version) bool {
	for _, known := range []map[string]version{t.left, t.next} {
		if v, ok := known[path]; ok && v.hash == now.hash {
			return true
		}
	}
	return false
}

// A snapshot is what is known of the files at the time of one user message: what each one was before it
// was first changed in answer to it.
type snapshot struct {
	id      string
	aliases []string
	time    time.Time
	files   map[string][]*backup // by path, in the order of changes
	number  int64                // of its record, or of the last one before it if it is not saved
	at      int64                // when it was recorded; see timeline.clock
	saved   bool
}

// A version is one content of a file, or that there was none.
type version struct {
	hash  string // of the content
	draft string // what the content is called until its hash is known; without either there is no file
	mode  fs.FileMode
	// number is that of the record that tells of it, or 0, and change that of the change that it belongs to, or 0.
	number, change int64
	at             int64 // when it was recorded; see timeline.clock
}

// A backup is what a file was before a change.
type backup struct {
	version
	by Author
	// began is when it was said what the file was about to be, or 0, and left what the change made of the file; nil if
	// nothing, or that is not known.
	began int64
	left  *version
}

func (v version) absent() bool { return v.hash == "" && v.draft == "" }

// tick returns the time, which is another one each time.
func (t *timeline) tick() int64 {
	t.clock++
	return t.clock
}

// add appends a snapshot.
func (t *timeline) add(s *snapshot) {
	s.at = t.tick()
	t.snapshots = append(t.snapshots, s)
	t.ids[s.id] = s
}

// keep adds a backup to a snapshot.
func (t *timeline) keep(s *snapshot, path string, b *backup) {
	b.at = t.tick()
	s.files[path] = append(s.files[path], b)
	if b.change > 0 {
		t.backups[b.change] = b
		t.changes = max(t.changes, b.change)
	}
}

// expect takes in what a change is about to make of a file.
func (t *timeline) expect(path string, v version) {
	v.at = t.tick()
	t.next[path] = v
	if b := t.backups[v.change]; b != nil {
		b.began = v.at
	}
}

// made takes in what a change made of a file.
func (t *timeline) made(path string, v version) {
	v.at = t.tick()
	t.left[path] = v
	delete(t.next, path)
	if b := t.backups[v.change]; b != nil {
		b.left = &v
	}
}

// enter makes the snapshot with this id the current one, and reports whether it is new.
func (t *timeline) enter(id string) bool {
	s, ok := t.ids[id]
	if !ok {
		s = &snapshot{id: id, time: time.Now(), files: map[string][]*backup{}}
		t.add(s)
	}
	t.current = s
	return !ok
}

// alias gives a snapshot another id.
func (t *timeline) alias(id string, s *snapshot) {
	s.aliases = append(s.aliases, id)
	t.ids[id] = s
}

// forget drops the snapshot with this id.
func (t *timeline) forget(id string) {
	for i, s := range t.snapshots {
		if s.id != id {
			continue
		}
		t.snapshots = append(t.snapshots[:i], t.snapshots[i+1:]...)
		delete(t.ids, id)
		for _, alias := range s.aliases {
			delete(t.ids, alias)
		}
		for _, backups := range s.files {
			for _, b := range backups {
				delete(t.backups, b.change)
			}
		}
		return
	}
}

// minPrefix is how many characters of an id name it, if no other begins with them.
const minPrefix = 4

// find returns the place of the snapshot with this id or alias, or the only one that begins with it. Without one it
// is the place of the first of later that is there; if none is, nothing was changed since, and it is the end. Before is
// the number of the last record that is sure to be from before the message.
func (t *timeline) find(id string, later []string) (at int, before int64, err error) {
	found := t.ids[id]
	for known, s := range t.ids {
		if t.ids[id] != nil || len(id) < minPrefix || !strings.HasPrefix(known, id) || s == found {
			continue
		}
		if found != nil {
			return 0, 0, fmt.Errorf("several messages have an id that begins with %q; give more of it", id)
		}
		found = s
	}
	switch {
	case found != nil:
		return slices.Index(t.snapshots, found), found.number, nil
	case later == nil:
		return 0, 0, t.unknown(id)
	}
	at = len(t.snapshots)
	if i := slices.IndexFunc(later, func(id string) bool { return t.ids[id] != nil }); i >= 0 {
		at = slices.Index(t.snapshots, t.ids[later[i]])
	}
	if at > 0 {
		return at, t.snapshots[at-1].number, nil
	}
	if len(t.snapshots) >= maxSnapshots {
		return 0, 0, fmt.Errorf("message %s is too long ago: file changes are kept for the last %d messages", id, maxSnapshots)
	}
	return at, 0, nil
}

// unknown returns the error for a message that is not known.
func (t *timeline) unknown(id string) error {
	var last []string
	for _, s := range slices.Backward(t.snapshots) {
		if len(last) < 5 {
			last = append(last, s.id)
		}
	}
	if last == nil {
		return fmt.Errorf("there is no message %q to go back to: nothing was changed yet", id)
	}
	return fmt.Errorf("there is no message %q to go back to; the last ones are %s", id, strings.Join(last, ", "))
}

// at returns what the tracked files were at a snapshot: the first that was kept of each from then on.
func (t *timeline) at(from int) map[string]version {
	files := map[string]version{}
	for _, s := range t.snapshots[from:] {
		for path, versions := range s.files {
			if _, ok := files[path]; !ok {
				files[path] = versions[0].version
			}
		}
	}
	return files
}

// doubtful returns the files of which a record may be missing, at the number gap, that says what they were at a
// snapshot. A file of which the first record is from before the gap is none of them; one that a tool wrote after it
// without a record is, and one that a damaged record speaks of.
func (t *timeline) doubtful(from int, gap int64) []string {
	known := t.at(from)
	doubt := map[string]bool{}
	for path, v := range known {
		doubt[path] = v.number > gap
	}
	for _, wrote := range []map[string]version{t.left, t.next} {
		for path, v := range wrote {
			if _, ok := known[path]; !ok && v.number > gap {
				doubt[path] = true
			}
		}
	}
	for path, number := range t.lost {
		if _, ok := known[path]; !ok && number >= gap {
			doubt[path] = true
		}
	}
	maps.DeleteFunc(doubt, func(_ string, doubtful bool) bool { return !doubtful })
	return slices.Sorted(maps.Keys(doubt))
}

// rename makes the versions that are a draft the content with this hash.
func (t *timeline) rename(name, hash string) {
	for _, s := range t.snapshots {
		for _, backups := range s.files {
			for _, b := range backups {
				if b.draft == name {
					b.draft, b.hash = "", hash
				}
			}
		}
	}
}

// used returns the names of the contents that are referred to.
func (t *timeline) used() map[string]bool {
	used := map[string]bool{}
	for _, s := range t.snapshots {
		for _, versions := range s.files {
			for _, v := range versions {
				used[v.hash+v.draft] = true // there is one of them
			}
		}
	}
	return used
}
