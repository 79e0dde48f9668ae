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
	ids       map[string]*snapshot // keyed by ID and alias
	current   *snapshot
	// left is the state in which the tools last left each file; any other current state was
	// produced by others.
	left map[string]version
	// next is the state that a tool or a rewind was about to give a file; if the process was
	// killed, it may have done so.
	next map[string]version
	// begun is the unfinished rewind, or nil.
	begun *pendingRewind
	// backups are the backups of numbered changes, keyed by number. changes is the last number.
	backups map[int64]*backup
	changes int64
	// clock is a logical clock for recorded events: snapshots, backups and writes.
	clock int64
	// lost are the files named in damaged records, with the number of the last such record.
	lost map[string]int64
}

func newTimeline() timeline {
	return timeline{ids: map[string]*snapshot{}, left: map[string]version{}, next: map[string]version{}, lost: map[string]int64{}, backups: map[int64]*backup{}}
}

// A pendingRewind is a rewind to a message, with the ID that undoes it.
type pendingRewind struct{ to, undo string }

// own reports whether the tools produced the file's current state, or were about to when the
// process was killed.
func own(t *timeline, path string, now version) bool {
	for _, known := range []map[string]version{t.left, t.next} {
		if v, ok := known[path]; ok && v.hash == now.hash {
			return true
		}
	}
	return false
}

// A snapshot holds the file states at one user message: the state of each file before it was
// first changed in answer to it.
type snapshot struct {
	id      string
	aliases []string
	time    time.Time
	files   map[string][]*backup // keyed by path, in order of changes
	number  int64                // number of its record, or of the last one before it if unsaved
	at      int64                // logical time of recording; see timeline.clock
	saved   bool
}

// A version is the content of a file, or its absence.
type version struct {
	hash  string // content hash
	draft string // content name until its hash is known; if both are empty, the file does not exist
	mode  fs.FileMode
	// number is its record number, change its change number; both may be 0.
	number, change int64
	at             int64 // logical time of recording; see timeline.clock
}

// A backup is the state of a file before a change.
type backup struct {
	version
	by Author
	// began is the logical time at which the new state was announced, or 0. left is the state
	// after the change, or nil if nothing was written or it is unknown.
	began int64
	left  *version
}

func (v version) absent() bool { return v.hash == "" && v.draft == "" }

// tick advances the logical clock and returns it.
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

// expect records the state that a change is about to give a file.
func (t *timeline) expect(path string, v version) {
	v.at = t.tick()
	t.next[path] = v
	if b := t.backups[v.change]; b != nil {
		b.began = v.at
	}
}

// made records the state that a change gave a file.
func (t *timeline) made(path string, v version) {
	v.at = t.tick()
	t.left[path] = v
	delete(t.next, path)
	if b := t.backups[v.change]; b != nil {
		b.left = &v
	}
}

// enter makes the snapshot with this ID the current one and reports whether it is new.
func (t *timeline) enter(id string) bool {
	s, ok := t.ids[id]
	if !ok {
		s = &snapshot{id: id, time: time.Now(), files: map[string][]*backup{}}
		t.add(s)
	}
	t.current = s
	return !ok
}

// alias gives a snapshot another ID.
func (t *timeline) alias(id string, s *snapshot) {
	s.aliases = append(s.aliases, id)
	t.ids[id] = s
}

// forget drops the snapshot with this ID.
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

// minPrefix is the minimum length of a unique ID prefix.
const minPrefix = 4

// find returns the index of the snapshot with this ID, alias or unique prefix. Without one it
// returns the index of the first known message in later; if none is known, nothing was changed
// since, and it returns the end. Before is the number of the last record that is certain to
// precede the message.
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

// unknown returns the error for an unknown message.
func (t *timeline) unknown(id string) error {
	var last []string
	for _, s := range slices.Backward(t.snapshots) {
		if len(last) < 5 {
			last = append(last, s.id)
		}
	}
	if last == nil {
		return fmt.Errorf("no message %q to rewind to: nothing was changed yet", id)
	}
	return fmt.Errorf("no message %q to go back to; the last ones are %s", id, strings.Join(last, ", "))
}

// at returns the states of the tracked files at a snapshot: the first one saved for each from
// then on.
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

// doubtful returns the files whose state at a snapshot may have been in a missing record, given
// the first missing number gap. These are files whose first record is after the gap, files that
// a tool wrote after it without a backup record, and files named in damaged records.
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

// rename replaces a draft by the content with this hash in all versions.
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

// used returns the names of the referenced contents.
func (t *timeline) used() map[string]bool {
	used := map[string]bool{}
	for _, s := range t.snapshots {
		for _, versions := range s.files {
			for _, v := range versions {
				used[v.hash+v.draft] = true // exactly one of them is set
			}
		}
	}
	return used
}
