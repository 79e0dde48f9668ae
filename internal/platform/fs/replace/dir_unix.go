//go:build unix

package replace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A directory is the directory in which a file is replaced. All operations are relative to its
// open handle, so it stays the same directory even if a parent is renamed.
type directory struct {
	file *os.File
	fd   int
	id   string
}

func newDirectory(file *os.File) (directory, error) {
	info, err := file.Stat()
	if err != nil {
		return directory{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return directory{}, fmt.Errorf("%s has no identity", file.Name())
	}
	return directory{file, int(file.Fd()), fmt.Sprintf("%x-%x", st.Dev, st.Ino)}, nil
}

// key identifies a file in this directory independently of the path used to reach it. It folds
// case, because the file system may.
func (d directory) key(name string) string { return keyOf(d.id, strings.ToLower(name)) }

func (d directory) path(name string) string { return filepath.Join(d.file.Name(), name) }

// open never follows a symlink and never blocks.
func (d directory) open(name string, flags int, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, uint32(perm.Perm()))
		switch {
		case err == unix.EINTR:
		case err == unix.ELOOP:
			return nil, fmt.Errorf("%w: it is a link now", ErrChanged)
		case err != nil:
			return nil, &fs.PathError{Op: "open", Path: d.path(name), Err: err}
		default:
			return os.NewFile(uintptr(fd), d.path(name)), nil
		}
	}
}

// writable returns an error if this user may not write to the file. Replacing it would only
// need permission to change the directory, but a file made read-only is meant to stay as it is.
func (d directory) writable(name string, info fs.FileInfo) error {
	if err := unix.Faccessat(d.fd, name, unix.W_OK, unix.AT_EACCESS); errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("it is not writable for this user (mode %s): %w", info.Mode().Perm(), fs.ErrPermission)
	}
	return nil
}

// names returns the directory's entries.
func (d directory) names() ([]string, error) {
	dir, err := d.open(".", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (d directory) rename(from, to string) error { return unix.Renameat(d.fd, from, d.fd, to) }
func (d directory) remove(name string) error     { return unix.Unlinkat(d.fd, name, 0) }

// link adds a second name to a file and then removes the first.
func (d directory) link(from, to string) error {
	if err := unix.Linkat(d.fd, from, d.fd, to, 0); err != nil {
		return err
	}
	d.remove(from) // ok: the file has its final name
	return nil
}

// closeFirst reports whether files must be closed before they are renamed, and the file that is
// replaced too.
const closeFirst = false

// stat describes the file that was renamed. It uses the open file, because the name may already
// refer to another file.
func (d directory) stat(file *os.File, _ string) (fs.FileInfo, error) { return file.Stat() }

// sync makes the directory's entries survive a power failure.
func (d directory) sync(fsync func(*os.File) error) error {
	// Some file systems cannot sync a directory. They return an error, and nothing can be done
	// about it.
	if err := fsync(d.file); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// chown gives f the owner and group of another file, as far as this user may.
func chown(f *os.File, like fs.FileInfo) (keepsOwner, keepsGroup bool) {
	want, ok := like.Sys().(*syscall.Stat_t)
	info, err := f.Stat()
	if !ok || err != nil {
		return false, false
	}
	have := info.Sys().(*syscall.Stat_t)
	keepsGroup = have.Gid == want.Gid || f.Chown(-1, int(want.Gid)) == nil
	keepsOwner = have.Uid == want.Uid || f.Chown(int(want.Uid), -1) == nil
	return keepsOwner, keepsGroup
}

// otherLinks returns the number of additional hard links to a file.
func otherLinks(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink) - 1
	}
	return 0
}
