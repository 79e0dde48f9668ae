package replace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}

// largeFile is the size from which a file is looked at where the system has it, and not copied.
const largeFile = 8 << 20

// view returns the content of a large file, and what gives it back.
func view(f *os.File, size int64) ([]byte, func()) {
	if size < largeFile {
		return nil, nil
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		return nil, nil
	}
	return mem, func() { unix.Munmap(mem) }
}

// beginSync lets the disk begin while the rest is still written.
func beginSync(f *os.File, offset, n int64) {
	unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE) // ok: the sync at the end counts
}

// renameNew renames unless the new name is taken.
func (d directory) renameNew(from, to string) error {
	err := unix.Renameat2(d.fd, from, d.fd, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // not on this file system, or kernel
		return d.link(from, to)
	}
	return err
}
