//go:build unix

package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func (s ResolvedPath) open(path string) (*os.File, error) {
	return noLinks(path, unix.O_RDONLY|unix.O_NONBLOCK)
}

func (s ResolvedPath) openDir(path string) (*os.File, error) {
	return noLinks(path, unix.O_RDONLY|unix.O_DIRECTORY)
}

// makeDir opens the deepest existing directory of path and creates the rest inside it.
func (s ResolvedPath) makeDir(path string, perm fs.FileMode) (*os.File, error) {
	above := filepath.Dir(path)
	parent, err := s.openDir(above)
	if errors.Is(err, fs.ErrNotExist) {
		parent, err = s.makeDir(above, perm)
	}
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	name := filepath.Base(path)
	if err := unix.Mkdirat(int(parent.Fd()), name, uint32(perm.Perm())); err != nil && err != unix.EEXIST {
		return nil, err
	}
	return openAt(int(parent.Fd()), name, path, unix.O_RDONLY|unix.O_DIRECTORY)
}

// oneByOne opens path, which must be absolute and clean, one component at a time from the root.
func oneByOne(path string, flags int) (*os.File, error) {
	at, err := openAt(unix.AT_FDCWD, "/", "/", unix.O_DIRECTORY|walkFlag)
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.Trim(path, "/"), "/")
	for i, name := range names {
		if name == "" { // the root itself
			name = "."
		}
		how := unix.O_DIRECTORY | walkFlag
		if i == len(names)-1 {
			how = flags
		}
		next, err := openAt(int(at.Fd()), name, path, how)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// openAt opens name in a directory, unless it is a symlink. path is the name of the returned
// file.
func openAt(dir int, name, path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, moved(dir, name, err)
		default:
			return os.NewFile(uintptr(fd), path), nil
		}
	}
}

// moved replaces errors caused by a symlink with ErrMoved.
func moved(dir int, name string, err error) error {
	switch err {
	case unix.ELOOP, unix.EMLINK: // FreeBSD returns the latter
		return ErrMoved
	case unix.ENOTDIR: // a symlink opened as a directory
		var st unix.Stat_t
		if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return ErrMoved
		}
	}
	return err
}
