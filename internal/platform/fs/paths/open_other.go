//go:build !unix

package paths

import (
	"io/fs"
	"os"

	"adze/internal/platform/fs/fsys"
)

// open compares the opened file with the one resolved before, because this system cannot open a
// path without following symlinks.
func (s ResolvedPath) open(path string) (*os.File, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, s.Info) {
		err = ErrMoved
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s ResolvedPath) openDir(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var direct fs.FileInfo
		if direct, err = os.Lstat(path); err == nil && !os.SameFile(info, direct) {
			err = ErrMoved
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s ResolvedPath) makeDir(path string, perm fs.FileMode) (*os.File, error) {
	if err := os.MkdirAll(path, perm); err != nil {
		return nil, err
	}
	return s.openDir(path)
}
