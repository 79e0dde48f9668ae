package change

import (
	"cmp"
	"crypto/sha256"
	"os"
	"slices"
	"sync"
	"time"

	"adze/internal/platform/filehistory"
	"adze/internal/platform/filestate"
)

const (
	// maxWritten is how many files it is known of who wrote them last, and maxWork how many an agent is listed with.
	maxWritten = 2000
	maxWork    = 5
)

// Writers know which agents change files, and which of them changed a file last. All conversations of a process share
// them. They may be used concurrently; nil knows nothing.
type Writers struct {
	now func() time.Time

	mu   sync.Mutex
	last map[string]writing    // by resolved path
	work map[string][]WorkedOn // by id of the agent, the last first
	who  map[string]filehistory.Author
}

// A writing is the last change to a file.
type writing struct {
	by    filehistory.Author
	stamp filestate.Stamp
	hash  [sha256.Size]byte // zero for a large file
	at    time.Time
}

// NewWriters returns a table without entries.
func NewWriters(now func() time.Time) *Writers {
	return &Writers{now: now, last: map[string]writing{}, work: map[string][]WorkedOn{}, who: map[string]filehistory.Author{}}
}

// Work is what an agent works on; the main conversation has no id.
type Work struct {
	By    filehistory.Author
	Files []WorkedOn // the one written last first, and a few of them
}

// A WorkedOn is a file with the time of its last change.
type WorkedOn struct {
	Path string
	At   time.Time
}

// Working returns the agents that have changed files and have not ended, the one that did so last first.
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

// End says that an agent has ended: it works on nothing any more. Who changed a file last is still known.
func (w *Writers) End(agent string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.work, agent)
}

// wrote takes in a change to the file at a resolved path.
func (w *Writers) wrote(path string, by filehistory.Author, stamp filestate.Stamp, hash [sha256.Size]byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.now()
	w.last[path] = writing{by, stamp, hash, at}
	w.who[by.ID] = by
	files := slices.DeleteFunc(w.work[by.ID], func(f WorkedOn) bool { return f.Path == path })
	files = slices.Insert(files, 0, WorkedOn{path, at})
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

// made returns who gave the file at a resolved path the content it has, if that is another agent than me. The hash is
// zero if it is not known.
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

// changedBy returns the other agent that gave a file the content it has, as a model is told of it, or nothing. The
// hash may be zero.
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
