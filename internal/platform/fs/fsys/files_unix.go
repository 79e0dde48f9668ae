//go:build unix

package fsys

import (
	"io/fs"
	"os"
)

// MkdirPrivate creates a directory and its parents, accessible to the user only. An existing
// directory is unchanged.
func MkdirPrivate(path string) error { return os.MkdirAll(path, 0o700) }

// OpenFile is [os.OpenFile]. See the Windows version.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// Rename is [os.Rename]. See the Windows version.
func Rename(from, to string) error { return os.Rename(from, to) }

// Truncate changes the size of an open file.
func Truncate(f *os.File, size int64) error { return f.Truncate(size) }
