package filehistory

import (
	"os"
	"syscall"
)

// fsync makes the content of a file survive a loss of power, with as much of its properties as it takes to read it.
func fsync(file *os.File) error {
	for {
		if err := syscall.Fdatasync(int(file.Fd())); err != syscall.EINTR {
			return err
		}
	}
}

// beginSync lets the disk begin with a part of a file, so that the sync that follows takes less time.
func beginSync(file *os.File, offset, n int64) {
	const write = 2                                         // SYNC_FILE_RANGE_WRITE
	syscall.SyncFileRange(int(file.Fd()), offset, n, write) // ok: the sync that follows counts
}
