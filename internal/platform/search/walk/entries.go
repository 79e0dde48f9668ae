package walk

import (
	"runtime"
	"unsafe"
)

// list sorts the buffered entries into files to visit and directories to read.
func (w *worker) list(d *dir) {
	w.path = append(append(w.path[:0], w.top...), d.path...)
	if d.path != "" {
		w.path = append(w.path, '/')
	}
	base := len(w.path)
	for e := range w.reader.entries {
		if w.stopped.Load() {
			break
		}
		if e.kind == unknown {
			e.kind = w.lookUp(d, e.name)
		}
		if !w.wants(e) {
			continue
		}
		w.path = append(w.path[:base], e.name...)
		path := unsafe.String(&w.path[0], len(w.path))
		if e.kind == directory {
			if !d.rules.IgnoresDir(path) {
				w.addDir(d, e.name)
			}
		} else if !d.rules.IgnoresFile(path) {
			w.addFile(d, e.name)
		}
	}
	w.visitBatch(d)
}

func (w *worker) lookUp(d *dir, name string) kind {
	info, err := d.handle.stat(name)
	if err != nil {
		return other // gone or unreadable
	}
	return info.kind
}

// wants reports whether an entry counts, before ignore files and the caller's filters.
func (w *worker) wants(e entry) bool {
	if e.kind != regular && e.kind != directory {
		return false
	}
	if e.name[0] != '.' {
		return true
	}
	switch e.name {
	case ".git": // a file in worktrees and submodules
		return false
	case ".svn", ".hg", ".bzr", ".jj", ".sl":
		return e.kind != directory && w.Hidden
	}
	return w.Hidden
}

func (w *worker) addDir(d *dir, name string) {
	path := w.arena.add(d.path, name)
	if w.Skip == nil || !w.Skip(path, true) {
		w.jobs = append(w.jobs, job{kind: readDir, dir: d.newChild(path)})
	}
}

func (w *worker) addFile(d *dir, name string) {
	path := w.arena.add(d.path, name)
	if w.Skip != nil && w.Skip(path, false) || w.Match != nil && !w.Match(path) {
		return
	}
	w.batch.Files = append(w.batch.Files, Entry{path, path[len(path)-len(name):]})
	if len(w.batch.Files) < w.Batch {
		return
	}
	if w.idle.Load() == 0 {
		w.visitBatch(d)
		return
	}
	d.expect()
	w.push(job{kind: visitBatch, dir: d, batch: w.batch})
	w.batch = &Batch{}
}

// visitBatch visits the files collected so far, which are in d.
func (w *worker) visitBatch(d *dir) {
	if len(w.batch.Files) == 0 {
		return
	}
	w.batch.handle = d.handle
	w.call(w.batch)
	w.batch.Files = w.batch.Files[:0]
}

// visitShared visits files that another worker has collected.
func (w *worker) visitShared(j job) {
	h, err := j.dir.hold()
	if err != nil && w.retry(j, err) {
		return
	}
	j.dir.forget()
	if err != nil {
		w.couldNot(err)
		return
	}
	j.batch.handle = h
	w.call(j.batch)
	j.dir.release()
}

func (w *worker) call(b *Batch) {
	if w.stopped.Load() {
		return
	}
	w.stats.Files += len(b.Files)
	if err := w.visit(w.id, b); err != nil {
		w.fail(err)
	}
	runtime.Gosched() // busy workers on all processors would starve the rest of the program
}
