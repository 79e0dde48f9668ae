package walk

import "unsafe"

// A Batch is a number of files in one directory. It is valid during the visit, except for the paths
// of its files, which may be kept.
type Batch struct {
	Files  []Entry
	handle handle
}

// An Entry is a regular file, or was one when its directory was read.
type Entry struct {
	path string
	name string // the end of path, or the whole name of a root that is a file
}

// Path returns the path relative to the root, separated by slashes; "." if the root is the file.
// It shares memory with other paths: who keeps few of many should clone them.
func (e Entry) Path() string { return e.path }

// Name returns the last element of the path.
func (e Entry) Name() string { return e.name }

// Info is what the file system knows about a file.
type Info struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Changed  int64 // the same for the time the inode was changed; 0 where there is none
	Inode    uint64
	kind     kind
}

// Regular reports whether it is a file, and no directory, link, device or the like.
func (i Info) Regular() bool { return i.kind == regular }

// An entry is a line of a directory. Its name is valid until more of the directory is read.
type entry struct {
	name string
	kind kind
}

type kind uint8

const (
	unknown kind = iota // the file system does not say
	regular
	directory
	other // a link, or something that is not to be opened
)

// Open opens a file for reading without following links and without waiting. It may fail with
// anything if the file has been replaced since.
func (b *Batch) Open(e Entry) (File, error) { return b.handle.openFile(e.name) }

// Stat asks the file system about a file, without following links.
func (b *Batch) Stat(e Entry) (Info, error) { return b.handle.stat(e.name) }

// An arena holds paths, each followed by a zero byte so that the system can be given any tail of one.
// What was handed out is never written to again.
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
