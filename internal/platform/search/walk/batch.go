package walk

import "unsafe"

// A Batch is a group of files in one directory. It is valid during the visit, except for the
// paths of its files, which may be kept.
type Batch struct {
	Files  []Entry
	handle handle
}

// An Entry is a regular file, or was one when its directory was read.
type Entry struct {
	path string
	name string // end of path, or the full name of a root that is a file
}

// Path returns the slash-separated path relative to the root; "." if the root is the file. It
// shares memory with other paths: a caller that keeps few of many should clone them.
func (e Entry) Path() string { return e.path }

// Name returns the last element of the path.
func (e Entry) Name() string { return e.name }

// Info is a file's metadata.
type Info struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Changed  int64 // inode change time, in the same unit; 0 if not available
	Inode    uint64
	kind     kind
}

// Regular reports whether it is a regular file.
func (i Info) Regular() bool { return i.kind == regular }

// An entry is a directory entry. Its name is valid until more of the directory is read.
type entry struct {
	name string
	kind kind
}

type kind uint8

const (
	unknown kind = iota // file system does not report it
	regular
	directory
	other // a link, or a file that must not be opened
)

// Open opens a file for reading without following links and without blocking. It may fail with
// any error if the file has been replaced since.
func (b *Batch) Open(e Entry) (File, error) { return b.handle.openFile(e.name) }

// Stat returns a file's metadata, without following links.
func (b *Batch) Stat(e Entry) (Info, error) { return b.handle.stat(e.name) }

// An arena holds paths, each followed by a zero byte so that any tail of a path can be passed
// to the system. Returned paths are never overwritten.
type arena struct{ free []byte }

const arenaSize = 32 << 10

// add returns dir and name joined by a slash.
func (a *arena) add(dir, name string) string {
	need := len(dir) + len(name) + 2
	if need > len(a.free) {
		a.free = make([]byte, max(arenaSize, need))
	}
	n := 0
	if dir != "" {
		n = copy(a.free, dir)
		a.free[n] = '/'
		n++
	}
	n += copy(a.free[n:], name)
	a.free[n] = 0
	path := unsafe.String(&a.free[0], n)
	a.free = a.free[n+1:]
	return path
}
