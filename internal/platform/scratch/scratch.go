// Package scratch makes a private directory for temporary files, when it is first needed. What may be done there is left
// to others.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"adze/internal/platform/fsys"
)

// A Dir is a directory for temporary files. A nil one is none. It is safe for concurrent use.
type Dir struct {
	made atomic.Pointer[string]
	find func() string
}

// New returns the directory at path. It is made with the first [Dir.Path]; ready is called then, or failed with the
// reason why it cannot be used.
func New(path string, ready func(), failed func(error)) *Dir {
	d := &Dir{}
	d.find = sync.OnceValue(func() string {
		real, err := makePrivate(path)
		if err != nil {
			failed(err)
			return ""
		}
		d.made.Store(&real)
		ready()
		return real
	})
	return d
}

// Path makes the directory, unless it is there, and returns its path without links, or "" if there is none.
func (d *Dir) Path() string {
	if d == nil {
		return ""
	}
	return d.find()
}

// Made returns the path if the directory has been made, or else "".
func (d *Dir) Made() string {
	if d == nil || d.made.Load() == nil {
		return ""
	}
	return *d.made.Load()
}

// Close removes the directory if it is empty.
func (d *Dir) Close() {
	if made := d.Made(); made != "" {
		os.Remove(made) // ok: it stays if there is something in it
	}
}

// makePrivate makes a directory and returns its path without links. One that is there must be the user's alone: another
// user may have put something in its place.
func makePrivate(path string) (string, error) {
	if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return "", err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory", path)
	case !fsys.OwnPrivate(info):
		return "", fmt.Errorf("%s is not yours alone", path)
	}
	return filepath.EvalSymlinks(path)
}
