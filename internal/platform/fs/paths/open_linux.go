package paths

import (
	"os"

	"golang.org/x/sys/unix"
)

// walkFlag opens an intermediate directory. It only needs search permission.
const walkFlag = unix.O_PATH

// noLinks opens path, which must be absolute and clean, and fails if any of its components is a
// symlink.
func noLinks(path string, flags int) (*os.File, error) {
	fd, err := descriptor(path, flags)
	switch err {
	case nil:
		return os.NewFile(uintptr(fd), path), nil
	case unix.ENOSYS, unix.EPERM: // an old kernel, or a sandbox that blocks the call
		return oneByOne(path, flags)
	}
	return nil, err
}

// OpenDirectory is like [OpenReal] for a directory, but returns a descriptor.
func OpenDirectory(path string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY
	fd, err := descriptor(path, flags)
	if err != unix.ENOSYS && err != unix.EPERM {
		return fd, err
	}
	f, err := oneByOne(path, flags)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

// descriptor opens path with a single system call.
func descriptor(path string, flags int) (int, error) {
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
			Flags:   uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC),
			Resolve: unix.RESOLVE_NO_SYMLINKS,
		})
		switch err {
		case unix.EINTR, unix.EAGAIN: // a concurrent rename
		case unix.ELOOP:
			return -1, ErrMoved
		case unix.ENOTDIR:
			return -1, moved(unix.AT_FDCWD, path, unix.ENOTDIR)
		default:
			return fd, err
		}
	}
}
