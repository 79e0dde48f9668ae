//go:build unix

package replace

import (
	"os"

	"golang.org/x/sys/unix"
)

// flock locks the file, or says that it is locked. On a file system without locks it succeeds: what is
// left is the comparison just before the file is replaced.
func flock(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return errLocked
		case nil, unix.ENOTSUP, unix.ENOSYS, unix.ENOLCK:
			return nil
		default:
			return err
		}
	}
}
