//go:build !unix

package replace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A directory is where a file is replaced. Here there are no calls relative to a handle.
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

// writable leaves it to the system to refuse.
func (d directory) writable(string, fs.FileInfo) error { return nil }

// names returns what is in the directory.
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
	d.remove(from) // ok: the file has its name
	return nil
}

func (d directory) stat(_ *os.File, name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }

// sync does nothing: here the names in a directory are safe once the file is.
func (d directory) sync(func(*os.File) error) error { return nil }

// closeFirst says that an open file cannot be renamed.
const closeFirst = true

func chown(*os.File, fs.FileInfo) (keepsOwner, keepsGroup bool) { return true, true }

func otherLinks(fs.FileInfo) int { return 0 }
