//go:build !unix

package library

import (
	"errors"
	"io"
	"os"

	"adze/internal/platform/fs/filestate"
)

// A place is a directory that paths are relative to.
type place struct{ prefix string }

// anywhere is the place of absolute paths.
var anywhere place

// at returns the place for a directory.
func at(path string, _ bool) place { return place{path + string(os.PathSeparator)} }

func (p place) close() {}

// stat returns information about a file or directory, following symlinks.
func (p place) stat(name string) (info, error) {
	st, err := os.Stat(p.prefix + name)
	if err != nil {
		return info{}, err
	}
	return info{filestate.StampOf(st), st.Mode().IsRegular(), st.IsDir()}, nil
}

// read reads a file up to the size of the buffer. It fails with errLink if name is a symlink.
func (p place) read(name string, buf []byte, _ int64) (int, error) {
	if st, err := os.Lstat(p.prefix + name); err == nil && st.Mode()&os.ModeSymlink != 0 {
		return 0, errLink
	}
	f, err := os.Open(p.prefix + name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// list returns the sorted names in a directory, and whether there are more than maxEntries.
func list(path string) (p place, names []string, more bool, err error) {
	p = at(path, false)
	entries, err := os.ReadDir(path)
	if err != nil {
		return p, nil, false, err
	}
	for _, e := range entries {
		if names = append(names, e.Name()); len(names) == maxEntries {
			return p, names, len(entries) > maxEntries, nil
		}
	}
	return p, names, false, nil
}
