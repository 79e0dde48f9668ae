//go:build unix

package library

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"adze/internal/platform/fs/filestate"
)

// A place is the starting point of paths: an open directory, or the root of the file system.
type place struct {
	fd     int
	prefix string // prepended to names
}

// anywhere is the place of absolute paths.
var anywhere = place{fd: unix.AT_FDCWD}

// at returns the place for a directory. If open is true, the directory is opened, so that
// lookups in it need not walk the whole path; close must be called.
func at(path string, open bool) place {
	if open {
		if fd, err := openAt(unix.AT_FDCWD, path, unix.O_DIRECTORY); err == nil {
			return place{fd: fd}
		}
	}
	return place{unix.AT_FDCWD, path + "/"}
}

func (p place) close() {
	if p.fd != unix.AT_FDCWD {
		unix.Close(p.fd) // ok: it was only read
	}
}

// stat returns information about a file or directory, following symlinks.
func (p place) stat(name string) (info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(p.fd, p.prefix+name, &st, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return info{}, err
		}
		return info{
			filestate.Stamp{MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Size: st.Size, Dev: uint64(st.Dev), Inode: uint64(st.Ino)},
			st.Mode&unix.S_IFMT == unix.S_IFREG, st.Mode&unix.S_IFMT == unix.S_IFDIR,
		}, nil
	}
}

// read reads a file up to the size of the buffer, and only size bytes if size is not negative.
// It does not block on pipes, and fails with errLink if name is a symlink.
func (p place) read(name string, buf []byte, size int64) (int, error) {
	fd, err := openAt(p.fd, p.prefix+name, unix.O_NOCTTY|unix.O_NOFOLLOW)
	if err == unix.ELOOP || err == unix.EMLINK {
		return 0, errLink
	}
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) && (size < 0 || int64(n) < size) {
		m, err := unix.Read(fd, buf[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, err
		case m == 0:
			return n, nil
		default:
			n += m
		}
	}
	return n, nil
}

func openAt(dir int, path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// list returns the sorted names in a directory, and whether there are more than maxEntries. It
// leaves the directory open, so close must be called.
func list(path string) (p place, names []string, more bool, err error) {
	fd, err := openAt(unix.AT_FDCWD, path, unix.O_DIRECTORY)
	if err != nil {
		return anywhere, nil, false, err
	}
	p = place{fd: fd}
	buf := make([]byte, 4<<10)
	for len(names) <= maxEntries {
		n, err := unix.ReadDirent(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			p.close()
			return anywhere, nil, false, err
		}
		if n == 0 {
			break
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
	slices.Sort(names)
	if more = len(names) > maxEntries; more {
		names = names[:maxEntries]
	}
	return p, names, more, nil
}
