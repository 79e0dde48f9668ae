package walk

import (
	"io"
	"io/fs"
	"runtime"

	"adze/internal/platform/search/ignore"
)

// A worker runs jobs, the latest first, so that few directories are open at a time.
type worker struct {
	*tree
	id     int
	jobs   []job
	reader reader
	arena  arena
	path   []byte // path of the current entry, for package ignore
	batch  *Batch
	stats  Stats
}

// work runs jobs until none are left.
func (t *tree) work(id int) Stats {
	w := &worker{tree: t, id: id, batch: &Batch{}}
	for {
		j, ok := w.next()
		if !ok {
			w.push(w.jobs...)
			return w.stats
		}
		w.do(j)
		runtime.Gosched()
	}
}

// next takes the worker's own latest job, or a shared job.
func (w *worker) next() (job, bool) {
	if w.single.Load() {
		w.push(w.jobs...)
		w.jobs = nil
	}
	if len(w.jobs) == 0 || w.stopped.Load() {
		return w.take()
	}
	w.share()
	last := len(w.jobs) - 1
	j := w.jobs[last]
	w.jobs[last] = job{}
	w.jobs = w.jobs[:last]
	return j, true
}

// share gives away the older half of the jobs, which tend to be larger, if a worker is idle.
func (w *worker) share() {
	if n := len(w.jobs) / 2; n > 0 && w.idle.Load() > 0 {
		w.push(w.jobs[:n]...)
		w.jobs = append(w.jobs[:0], w.jobs[n:]...)
	}
}

func (w *worker) do(j job) {
	switch j.kind {
	case readDir:
		w.open(j)
	case continueDir:
		w.readOn(j.dir)
	case visitBatch:
		w.visitShared(j)
	}
}

// open opens a directory and reads it.
func (w *worker) open(j job) {
	d := j.dir
	err := w.enter(d)
	if err != nil && w.retry(j, err) {
		return
	}
	if d.parent != nil {
		d.parent.forget()
	}
	if err != nil {
		w.couldNot(err)
		return
	}
	w.stats.Dirs++
	w.read(d)
}

// retry requeues a job that failed for lack of descriptors. All workers but one exit then, and
// directories are not kept open any more; the remaining worker tries the job once more.
func (w *worker) retry(j job, err error) bool {
	if !IsShort(err) || j.retried {
		return false
	}
	w.bound.Store(0)
	if !w.shrink() {
		w.closeIdle()
		j.retried = true
	}
	w.push(j)
	return true
}

// closeIdle closes directories that are open only because of jobs in the queue.
func (w *worker) closeIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.queue.jobs {
		for d := j.dir; d != nil; d = d.parent {
			d.mu.Lock()
			d.closeUnused()
			d.mu.Unlock()
		}
	}
}

// couldNot records that a directory could not be read completely. A removed directory is
// ignored.
func (w *worker) couldNot(err error) {
	if isGone(err) {
		return
	}
	w.stats.Skipped++
	w.stats.Partial = w.stats.Partial || IsShort(err)
}

// enter opens a directory, reads its first entries, and finds their rules. If the error is nil,
// the directory is held.
func (w *worker) enter(d *dir) error {
	h, err := d.hold()
	if err != nil {
		return err
	}
	if err = w.reader.fill(h); err == nil && w.Ignore {
		err = w.findRules(d, h)
	}
	if err != nil {
		d.release()
	}
	return err
}

// findRules reads a directory's ignore files. If its entries do not all fit into the buffer, it
// looks them up by name.
func (w *worker) findRules(d *dir, h handle) error {
	found := ignore.Names(0)
	if w.reader.complete {
		for e := range w.reader.entries {
			if e.name[0] == '.' {
				found |= ignore.NameOf(e.name)
			}
		}
	} else {
		for _, name := range [...]string{".git", ".gitignore", ".ignore", ".rgignore"} {
			if _, err := h.stat(terminated(name)); err == nil {
				found |= ignore.NameOf(name)
			}
		}
	}
	if found == 0 {
		return nil
	}
	var short error
	rules := w.rules.Enter(d.rules, w.top+d.path, found, func(name string) (io.ReadCloser, error) {
		f, err := openIgnore(h, name)
		if err != nil && IsShort(err) {
			short = err
		}
		return f, err
	})
	if short == nil {
		d.rules = rules
	}
	return short
}

// openIgnore opens an ignore file. A .gitignore that is a link does not count, as in git.
func openIgnore(h handle, name string) (io.ReadCloser, error) {
	open := h.openTarget
	if name == ".gitignore" {
		open = h.openFile
	}
	f, err := open(terminated(name))
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Regular() {
		f.Close()
		return nil, fs.ErrInvalid
	}
	return f, nil
}

// readOn reads more entries of a large directory.
func (w *worker) readOn(d *dir) {
	if err := w.reader.fill(d.handle); err != nil {
		w.couldNot(err)
		d.release()
		return
	}
	w.read(d)
}

// read processes the buffered entries, and then the rest of the directory. It processes
// everything below the entries of one buffer before the next buffer, so that jobs do not pile
// up.
func (w *worker) read(d *dir) {
	for {
		below := len(w.jobs)
		w.list(d)
		if w.reader.complete || w.stopped.Load() {
			d.release()
			return
		}
		if last := len(w.jobs); last > below {
			w.jobs = append(w.jobs, job{kind: continueDir, dir: d})
			w.jobs[below], w.jobs[last] = w.jobs[last], w.jobs[below]
			return
		}
		if err := w.reader.fill(d.handle); err != nil {
			w.couldNot(err)
			d.release()
			return
		}
	}
}
