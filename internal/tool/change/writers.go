package change

import (
	"cmp"
	"crypto/sha256"
	"os"
	"slices"
	"sync"
	"time"

	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
)

const (
	// maxWritten is the maximum number of files with a known last writer, and maxWork the
	// maximum number listed for an agent.
	maxWritten = 2000
	maxWork    = 5
)

// Writers tracks which agents change files, and which agent changed each file last. All
// conversations of a process share it. It is safe for concurrent use; a nil Writers records
// nothing.
type Writers struct {
	now func() time.Time

	mu   sync.Mutex
	last map[string]writing       // keyed by resolved path
	work map[string][]ChangedFile // agent ID to files, most recent first
	who  map[string]filehistory.Author
}

// A writing is the last change to a file.
type writing struct {
	by    filehistory.Author
	stamp filestate.Stamp
	hash  [sha256.Size]byte // unset for a large file
	at    time.Time
}

// NewWriters returns an empty Writers.
func NewWriters(now func() time.Time) *Writers {
	return &Writers{now: now, last: map[string]writing{}, work: map[string][]ChangedFile{}, who: map[string]filehistory.Author{}}
}

// Work lists the files an agent works on; the main conversation has no ID.
type Work struct {
	By    filehistory.Author
	Files []ChangedFile // a few files, most recently written first
}

// A ChangedFile is a file with the time of its last change.
type ChangedFile struct {
	Path string
	At   time.Time
}

// Working returns the running agents that have changed files, most recent first.
func (w *Writers) Working() []Work {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Work
	for id, files := range w.work {
		all = append(all, Work{w.who[id], slices.Clone(files)})
	}
	slices.SortFunc(all, func(a, b Work) int {
		return cmp.Or(b.Files[0].At.Compare(a.Files[0].At), cmp.Compare(a.By.ID, b.By.ID))
	})
	return all
}

// End records that an agent has ended. The last writer of its files is still known.
func (w *Writers) End(agent string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.work, agent)
}

// wrote records a change to the file at a resolved path.
func (w *Writers) wrote(path string, by filehistory.Author, stamp filestate.Stamp, hash [sha256.Size]byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.now()
	w.last[path] = writing{by, stamp, hash, at}
	w.who[by.ID] = by
	files := slices.DeleteFunc(w.work[by.ID], func(f ChangedFile) bool { return f.Path == path })
	files = slices.Insert(files, 0, ChangedFile{path, at})
	w.work[by.ID] = files[:min(len(files), maxWork)]
	if len(w.last) > maxWritten {
		w.forget()
	}
}

// forget drops the older half of the files.
func (w *Writers) forget() {
	var times []time.Time
	for _, l := range w.last {
		times = append(times, l.at)
	}
	slices.SortFunc(times, time.Time.Compare)
	for path, l := range w.last {
		if l.at.Before(times[len(times)/2]) {
			delete(w.last, path)
		}
	}
}

// made returns the agent, other than me, that wrote the current content of the file at a
// resolved path. The hash is zero if unknown.
func (w *Writers) made(path string, stamp filestate.Stamp, hash [sha256.Size]byte, me filehistory.Author) (by filehistory.Author, ok bool) {
	if w == nil {
		return by, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok := w.last[path]
	if !ok || l.by.ID == me.ID || l.stamp != stamp && (hash == ([sha256.Size]byte{}) || l.hash != hash) {
		return by, false
	}
	return l.by, true
}

// changedBy returns a description of the other agent that wrote a file's current content, or
// "". The hash may be zero.
func changedBy(t *Target, info os.FileInfo, hash [sha256.Size]byte) string {
	set, err := t.set()
	if err != nil || info == nil {
		return ""
	}
	by, ok := t.files.Writers.made(set.Real, filestate.StampOf(info), hash, t.files.Author)
	if !ok {
		return ""
	}
	return by.String()
}
