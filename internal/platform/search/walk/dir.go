package walk

import (
	"strings"
	"sync"

	"adze/internal/platform/search/ignore"
)

// A dir is a directory that is being read or has unread descendants. Its handle is closed when
// it is not needed any more, or earlier if too many are open; it is then reopened from its
// parent, so that a walk does not run out of descriptors in a tree of any size.
type dir struct {
	tree   *tree
	parent *dir   // nil for the root
	path   string // relative to the root; empty for the root
	rules  *ignore.Dir

	mu      sync.Mutex
	handle  handle
	isOpen  bool
	users   int // number of users of the handle
	waiting int // number of jobs that will need the handle
}

// newRoot returns the root, which stays open until closeAll.
func (t *tree) newRoot(h handle) *dir {
	t.open.Add(1)
	return &dir{tree: t, rules: t.above, handle: h, isOpen: true, waiting: 1}
}

// newChild returns a directory below d for a job to read. It has the rules of d until it is
// read.
func (d *dir) newChild(path string) *dir {
	d.expect()
	return &dir{tree: d.tree, parent: d, path: path, rules: d.rules}
}

// name returns the last element of the path.
func (d *dir) name() string { return d.path[strings.LastIndexByte(d.path, '/')+1:] }

// expect registers a job that will need the handle.
func (d *dir) expect() {
	d.mu.Lock()
	d.waiting++
	d.mu.Unlock()
}

// forget undoes an expect.
func (d *dir) forget() {
	d.mu.Lock()
	d.waiting--
	d.closeUnused()
	d.mu.Unlock()
}

// hold returns the handle, which stays open until release.
func (d *dir) hold() (handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.isOpen {
		if err := d.open(); err != nil {
			return handle{}, err
		}
	}
	d.users++
	return d.handle, nil
}

// release ends a hold.
func (d *dir) release() {
	d.mu.Lock()
	d.users--
	d.closeUnused()
	d.mu.Unlock()
}

func (d *dir) open() error {
	up, err := d.parent.hold()
	if err != nil {
		return err
	}
	defer d.parent.release()
	if d.handle, err = up.openDir(d.name()); err != nil {
		return err
	}
	d.isOpen = true
	d.tree.open.Add(1)
	return nil
}

// closeUnused closes the handle if it is not in use and either will not be needed again, or can
// be reopened and too many are open.
func (d *dir) closeUnused() {
	if !d.isOpen || d.users > 0 {
		return
	}
	if d.waiting > 0 && (d.parent == nil || d.tree.open.Load() <= d.tree.bound.Load()) {
		return
	}
	d.handle.close()
	d.isOpen = false
	d.tree.open.Add(-1)
}

// abandon releases the directory that a job would have needed.
func (j job) abandon() {
	switch j.kind {
	case readDir:
		if j.dir.parent != nil {
			j.dir.parent.forget()
		}
	case continueDir:
		j.dir.release()
	case visitBatch:
		j.dir.forget()
	}
}
