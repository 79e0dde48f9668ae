//go:build (amd64 || arm64) && !portable

package walk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"syscall"
	"unsafe"

	"adze/internal/platform/fs/paths"
)

// A handle is an open directory. All names passed to it are zero-terminated in memory.
type handle struct{ fd int }

const (
	openFlags = syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	dirFlags  = openFlags | syscall.O_DIRECTORY
)

// openRoot opens a directory. It follows no links, not even in parent directories.
func openRoot(path string) (handle, error) {
	fd, err := paths.OpenDirectory(path)
	return handle{fd}, err
}

func (h handle) openDir(name string) (handle, error) {
	fd, err := h.openAt(name, dirFlags|syscall.O_NOFOLLOW)
	return handle{fd}, err
}

// openFile opens a file that is not a link.
func (h handle) openFile(name string) (File, error) {
	fd, err := h.openAt(name, openFlags|syscall.O_NOFOLLOW)
	return File{fd}, err
}

// openTarget opens a file or a link's target.
func (h handle) openTarget(name string) (File, error) {
	fd, err := h.openAt(name, openFlags)
	return File{fd}, err
}

func (h handle) openAt(name string, flags int) (int, error) {
	for {
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(h.fd),
			uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(flags), 0, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case syscall.EINTR:
			continue
		}
		return -1, errno
	}
}

func (h handle) close() { syscall.Close(h.fd) }

const noFollow = 0x100 // AT_SYMLINK_NOFOLLOW

func (h handle) stat(name string) (Info, error) {
	var st syscall.Stat_t
	for {
		_, _, errno := syscall.Syscall6(sysFstatat, uintptr(h.fd),
			uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(unsafe.Pointer(&st)), noFollow, 0, 0)
		switch errno {
		case 0:
			return infoOf(&st), nil
		case syscall.EINTR:
			continue
		}
		return Info{}, errno
	}
}

func infoOf(st *syscall.Stat_t) Info {
	info := Info{Size: st.Size, Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(), Inode: st.Ino, kind: other}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		info.kind = regular
	case syscall.S_IFDIR:
		info.kind = directory
	}
	return info
}

// terminated returns a copy of name that may be passed to a handle.
func terminated(name string) string { return (name + "\x00")[:len(name)] }

// A File is a file open for reading. It must be closed, and is not safe for concurrent use.
type File struct{ fd int }

// Read reads up to len(p) bytes. A short read does not mean that the end is near.
func (f File) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd, p)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// ReadAt fills p from an offset, or returns an error.
func (f File) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		m, err := syscall.Pread(f.fd, p[n:], at+int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return n, err
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

// Stat returns the file's metadata.
func (f File) Stat() (Info, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Fstat(f.fd, &st)
		if err != syscall.EINTR {
			return infoOf(&st), err
		}
	}
}

// Close closes the file.
func (f File) Close() error { return syscall.Close(f.fd) }

// A reader holds directory entries in the system's format.
type reader struct {
	buf      []byte
	filled   int
	complete bool // the buffer contains the last entries
}

const (
	readerSize = 64 << 10
	entrySize  = 512 // larger than any entry
)

// fill replaces the buffered entries by the next ones. The system may return fewer than fit
// although more follow: only an empty result means the end.
func (r *reader) fill(h handle) error {
	if r.buf == nil {
		r.buf = make([]byte, readerSize)
	}
	r.filled, r.complete = 0, false
	for len(r.buf)-r.filled >= entrySize {
		n, err := syscall.ReadDirent(h.fd, r.buf[r.filled:])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil && r.filled > 0 && isGone(err):
			n = 0
		case err != nil:
			return err
		}
		if n == 0 {
			r.complete = true
			return nil
		}
		r.filled += n
	}
	return nil
}

// Entry layout: inode and offset, 8 bytes each, then its size, its kind, and its name.
const (
	sizeAt = 16
	kindAt = 18
	nameAt = 19
)

// entries yields the buffered entries. Their names point into the buffer and are
// zero-terminated.
func (r *reader) entries(yield func(entry) bool) {
	for rest := r.buf[:r.filled]; len(rest) > nameAt; {
		size := int(binary.NativeEndian.Uint16(rest[sizeAt:]))
		name := rest[nameAt:size]
		kind := rest[kindAt]
		rest = rest[size:]
		n := bytes.IndexByte(name, 0)
		if n <= 0 || name[0] == '.' && (n == 1 || n == 2 && name[1] == '.') {
			continue
		}
		if !yield(entry{unsafe.String(&name[0], n), kindOf(kind)}) {
			return
		}
	}
}

func kindOf(t byte) kind {
	switch t {
	case syscall.DT_REG:
		return regular
	case syscall.DT_DIR:
		return directory
	case syscall.DT_UNKNOWN:
		return unknown
	}
	return other
}

// isGone reports whether an error means that a file was removed or replaced.
func isGone(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// IsShort reports whether an error means a lack of descriptors or memory: the operation may
// succeed with one worker.
func IsShort(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}
