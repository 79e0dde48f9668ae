package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock locks a file until it is closed or the process exits for any reason. It locks a byte far
// beyond the content, because others cannot read or write a locked part. The error is [ErrLocked]
// if another process or another open file holds the lock.
func Lock(f *os.File) error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}
