package filehistory

import (
	"os"
	"syscall"
)

// fsync makes a file's content survive a power failure, with the metadata needed to read it.
func fsync(file *os.File) error {
	for {
		if err := syscall.Fdatasync(int(file.Fd())); err != syscall.EINTR {
			return err
		}
	}
}

// beginSync starts writing part of a file to disk, so that the following sync takes less time.
func beginSync(file *os.File, offset, n int64) {
	const write = 2                                         // SYNC_FILE_RANGE_WRITE
	syscall.SyncFileRange(int(file.Fd()), offset, n, write) // ok: the following sync counts
}
