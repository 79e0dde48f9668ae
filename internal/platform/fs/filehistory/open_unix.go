//go:build unix

package filehistory

import (
	"fmt"
	"os"
	"syscall"
)

// flock locks the file until it is closed, or returns [ErrLocked]. It succeeds on a file system
// without locks: an unlocked history is better than none.
func flock(file *os.File) error {
	for {
		switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrLocked
		case nil, syscall.ENOTSUP, syscall.ENOSYS, syscall.ENOLCK:
			return nil
		default:
			return fmt.Errorf("locking %s: %w", file.Name(), err)
		}
	}
}
