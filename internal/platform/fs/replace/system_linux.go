package replace

import (
	"errors"
	"fmt"
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

// largeFile is the size from which a file is memory-mapped instead of copied.
const largeFile = 8 << 20

// view maps a large file into memory and returns its content and a function to unmap it.
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

// beginSync starts writing a range to disk while the rest is still being written.
func beginSync(f *os.File, offset, n int64) {
	unix.SyncFileRange(int(f.Fd()), offset, n, unix.SYNC_FILE_RANGE_WRITE) // ok: the final sync reports errors
}

// openUnnamed creates an unnamed file that will later be linked as name. It fails with
// [errors.ErrUnsupported] where the system cannot do that.
func (d directory) openUnnamed(name string, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := unix.Openat(d.fd, ".", unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, uint32(perm.Perm()))
		switch err {
		case nil:
			file := os.NewFile(uintptr(fd), d.path(name))
			if err := unix.Faccessat(unix.AT_FDCWD, descriptor(file), unix.F_OK, 0); err != nil { // can never be linked
				file.Close()
				return nil, errors.ErrUnsupported
			}
			return file, nil
		case unix.EINTR:
		case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOENT: // unsupported by the file system or kernel
			return nil, errors.ErrUnsupported
		default:
			return nil, &fs.PathError{Op: "create", Path: d.path(name), Err: err}
		}
	}
}

// linkUnnamed links an unnamed file as name, unless the name is taken.
func (d directory) linkUnnamed(file *os.File, name string) error {
	return unix.Linkat(unix.AT_FDCWD, descriptor(file), d.fd, name, unix.AT_SYMLINK_FOLLOW)
}

// descriptor returns a path to an open file.
func descriptor(file *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", file.Fd()) }

// renameNew renames a file unless the new name is taken.
func (d directory) renameNew(from, to string) error {
	err := unix.Renameat2(d.fd, from, d.fd, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // unsupported by the file system or kernel
		return d.link(from, to)
	}
	return err
}
