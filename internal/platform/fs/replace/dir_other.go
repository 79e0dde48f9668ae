//go:build !unix

package replace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A directory is the directory in which a file is replaced. This system has no handle-relative
// calls.
type directory struct{ name, id string }

func newDirectory(file *os.File) (directory, error) {
	abs, err := filepath.Abs(file.Name())
	return directory{abs, strings.ToLower(abs)}, err
}

func (d directory) key(name string) string {
	return keyOf(d.id, strings.ToLower(name))
}

func (d directory) path(name string) string { return filepath.Join(d.name, name) }

func (d directory) open(name string, flags int, perm fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(d.path(name)); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, ErrChanged
	}
	return os.OpenFile(d.path(name), flags, perm)
}

// writable returns nil: the system refuses later if necessary.
func (d directory) writable(string, fs.FileInfo) error { return nil }

// names returns the directory's entries.
func (d directory) names() ([]string, error) {
	dir, err := os.Open(d.name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (d directory) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }
func (d directory) remove(name string) error     { return os.Remove(d.path(name)) }

func (d directory) link(from, to string) error {
	if err := os.Link(d.path(from), d.path(to)); err != nil {
		return err
	}
	d.remove(from) // ok: the file has its final name
	return nil
}

func (d directory) stat(_ *os.File, name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }

// sync does nothing: on this system, syncing the file also persists its name.
func (d directory) sync(func(*os.File) error) error { return nil }

// closeFirst reports whether files must be closed before they are renamed.
const closeFirst = true

func chown(*os.File, fs.FileInfo) (keepsOwner, keepsGroup bool) { return true, true }

func otherLinks(fs.FileInfo) int { return 0 }
