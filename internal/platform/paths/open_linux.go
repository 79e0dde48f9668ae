package paths

import (
	"os"

	"golang.org/x/sys/unix"
)

// walkFlag opens a directory on the way, for which the right to pass through it is enough.
const walkFlag = unix.O_PATH

// noLinks opens path, which is absolute and clean, unless a link is on the way or at its end.
func noLinks(path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
			Flags:   uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC),
			Resolve: unix.RESOLVE_NO_SYMLINKS,
		})
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case unix.EINTR, unix.EAGAIN: // something was renamed meanwhile
		case unix.ELOOP:
			return nil, ErrMoved
		case unix.ENOTDIR:
			return nil, moved(unix.AT_FDCWD, path, unix.ENOTDIR)
		case unix.ENOSYS, unix.EPERM: // an old kernel, or a sandbox that does not know the call
			return oneByOne(path, flags)
		default:
			return nil, err
		}
	}
}
