//go:build unix

package lockfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock locks a file until it is closed or the process exits for any reason. The error is
// [ErrLocked] if another process or another open file holds the lock. Lock succeeds on file
// systems without lock support.
func Lock(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return ErrLocked
		case nil, unix.ENOTSUP, unix.ENOSYS, unix.ENOLCK:
			return nil
		default:
			return err
		}
	}
}
