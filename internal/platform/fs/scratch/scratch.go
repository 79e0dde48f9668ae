// Package scratch lazily creates a private directory for temporary files.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"adze/internal/platform/fs/fsys"
)

// A Dir is a directory for temporary files. A nil Dir means no directory. It is safe for
// concurrent use.
type Dir struct {
	made atomic.Pointer[string]
	find func() string
}

// New returns the directory at path. The first call to [Dir.Path] creates it and then calls
// ready, or failed if the directory cannot be used.
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

// Path creates the directory if necessary and returns its path with symlinks resolved, or "" if
// it is unavailable.
func (d *Dir) Path() string {
	if d == nil {
		return ""
	}
	return d.find()
}

// Made returns the path if the directory has been created, otherwise "".
func (d *Dir) Made() string {
	if d == nil || d.made.Load() == nil {
		return ""
	}
	return *d.made.Load()
}

// Close removes the directory if it is empty.
func (d *Dir) Close() {
	if made := d.Made(); made != "" {
		os.Remove(made) // ok: a non-empty directory is kept
	}
}

// makePrivate creates a directory and returns its path with symlinks resolved. An existing
// directory must belong to the user alone, because another user may have put something in its
// place.
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
