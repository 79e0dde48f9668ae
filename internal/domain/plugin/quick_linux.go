package plugin

import (
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"adze/internal/platform/fs/filestate"
)

// A quick reads files in a directory with few system calls. It fails with errSlow for paths
// that involve symlinks.
type quick struct{ fd int }

// openQuick opens a directory.
func openQuick(dir string) (*quick, error) {
	fd, err := again(func() (int, error) { return unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return &quick{fd}, nil
}

func (q *quick) close() { unix.Close(q.fd) } // ok: it was only read

// again retries do while it is interrupted.
func again(do func() (int, error)) (n int, err error) {
	for {
		if n, err = do(); err != unix.EINTR {
			return n, err
		}
	}
}

// isDir reports whether a name without slashes is a directory.
func (q *quick) isDir(name string) (bool, error) {
	var st unix.Stat_t
	_, err := again(func() (int, error) { return 0, unix.Fstatat(q.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	switch {
	case err == unix.ENOENT:
		return false, err
	case err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return false, errSlow
	}
	return st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// read reads a regular file of at most max bytes.
func (q *quick) read(name string, max int64) (fileContent, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := again(func() (int, error) { return unix.Openat2(q.fd, name, &how) })
	switch {
	case err == unix.ENOENT:
		return fileContent{}, err
	case err != nil: // also if the kernel or a sandbox lacks the system call
		return fileContent{}, errSlow
	}
	defer unix.Close(fd) // ok: it was only read
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fileContent{}, errIrregular
	}
	stamp := filestate.Stamp{MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Size: st.Size, Dev: uint64(st.Dev), Inode: st.Ino}
	return readAll(opened(fd), max, st.Size, stamp)
}

// An opened is a file descriptor that is read sequentially.
type opened int

// Read implements io.Reader.
func (o opened) Read(p []byte) (int, error) {
	n, err := again(func() (int, error) { return unix.Read(int(o), p) })
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
