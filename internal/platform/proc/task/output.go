package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/platform/fs/fsys"
)

// suffix is the file name suffix of task outputs.
const suffix = ".output"

// MaxOutput limits a task's output. maxMoved limits the size of a file that is handed over.
const (
	MaxOutput = 1 << 30
	maxMoved  = 64 << 20
)

const (
	// headSize and tailSize are how much of the beginning and end is kept in memory.
	headSize = 128 << 10
	tailSize = 16 << 10
)

// ErrFull means that a task's output exceeds the limit.
var ErrFull = errors.New("the output is larger than 1 GB")

// An Output holds a task's output: all of it in a file, and its beginning and end in memory. It
// is safe for concurrent use.
type Output struct {
	path   string
	strays *strays

	mu     sync.Mutex
	file   *os.File    // nil until created
	sealed bool        // writing has ended and file is closed
	info   fs.FileInfo // describes the sealed file
	moved  bool        // the new owner removes it
	max    int64
	head   []byte // nil after release
	tail   []byte // last bytes, at most twice tailSize
	size   int64
	lines  int
}

func newOutput(dir, id string, s *strays) *Output {
	return &Output{path: filepath.Join(dir, id+suffix), strays: s, max: MaxOutput}
}

// strays lists a table's outputs that could not be created in its directory.
type strays struct {
	mu    sync.Mutex
	paths []string
}

func (s *strays) add(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths = append(s.paths, path)
}

// remove removes the files.
func (s *strays) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.paths {
		os.Remove(path) // ok: it may be gone
	}
	s.paths = nil
}

// Make creates the file, which must not exist, not even as a symlink. If the directory is not
// usable, it falls back to the system's temporary directory. The first write also creates the
// file; tasks that need a guaranteed place for their output call Make beforehand.
func (o *Output) Make() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.make()
}

func (o *Output) make() error {
	if o.file != nil {
		return nil
	}
	if o.sealed {
		return fmt.Errorf("making the file for the output: %w", os.ErrClosed)
	}
	f, err := create(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = fsys.MkdirPrivate(filepath.Dir(o.path)); err == nil {
			f, err = create(o.path)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // perhaps the home directory is read-only
		if other, bad := os.CreateTemp("", "adze-*-"+filepath.Base(o.path)); bad == nil {
			f, err, o.path = other, nil, other.Name()
			o.strays.add(o.path)
		}
	}
	if err != nil {
		return fmt.Errorf("making the file for the output: %w", err)
	}
	o.file = f
	return nil
}

func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// Path returns the file's path.
func (o *Output) Path() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.path
}

// Write appends p. It fails with [ErrFull], or if the file cannot be written; earlier output
// remains available.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := o.size+int64(len(p)) > o.max
	if full {
		p = p[:o.max-o.size]
	}
	if err := o.make(); err != nil {
		return 0, err
	}
	n, err := o.file.Write(p)
	o.note(p[:n])
	if err == nil && full {
		err = ErrFull
	}
	return n, err
}

func (o *Output) note(p []byte) {
	o.head = append(o.head, p[:min(len(p), headSize-len(o.head))]...)
	o.tail = append(o.tail, p[max(0, len(p)-tailSize):]...)
	if len(o.tail) > 2*tailSize {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-tailSize:]...)
	}
	o.size += int64(len(p))
	o.lines += bytes.Count(p, []byte{'\n'})
}

// Size returns the number of bytes written.
func (o *Output) Size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// Whole returns all output if it is short enough to be in memory.
func (o *Output) Whole() (text []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	head := o.begin(headSize)
	return head, o.size == int64(len(head))
}

// Head returns up to n bytes from the beginning.
func (o *Output) Head(n int) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.begin(n)
}

// begin returns up to n bytes from the beginning, from memory or the file.
func (o *Output) begin(n int) []byte {
	if o.head != nil || o.size == 0 {
		return bytes.Clone(o.head[:min(n, len(o.head))])
	}
	head := make([]byte, min(int64(n), headSize, o.size))
	n, _ = o.readAt(head, 0) // ok: a missing file has no beginning
	return head[:n]
}

// Tail returns up to n bytes from the end, at most 16 KB, and the total number of line breaks.
func (o *Output) Tail(n int) (tail []byte, lines int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.tail[max(0, len(o.tail)-min(n, tailSize)):]), o.lines
}

// ReadAt reads from the file.
func (o *Output) ReadAt(p []byte, off int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.readAt(p, off)
}

func (o *Output) readAt(p []byte, off int64) (int, error) {
	if o.file == nil {
		return 0, io.EOF
	}
	if !o.sealed {
		return o.file.ReadAt(p, off)
	}
	f, err := os.Open(o.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || o.info == nil || !os.SameFile(info, o.info) {
		return 0, fmt.Errorf("%s was replaced by another file", o.path)
	}
	return f.ReadAt(p, off)
}

// seal closes the file and prevents further writes.
func (o *Output) seal() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed {
		return
	}
	o.sealed = true
	if o.file != nil {
		o.info, _ = o.file.Stat() // ok: without it nothing can be read
		o.file.Close()            // ok: all data has been written
	}
}

// release frees the beginning from memory. It is read from the file if necessary.
func (o *Output) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.head = nil
}

// Open returns a reader for all output. Closing the reader discards the output.
func (o *Output) Open() (io.ReadCloser, error) {
	return &reader{io.NewSectionReader(o, 0, o.Size()), o}, nil
}

type reader struct {
	*io.SectionReader
	output *Output
}

func (r *reader) Close() error {
	r.output.Discard()
	return nil
}

// Close discards the output. The executor calls it for output that it does not read.
func (o *Output) Close() error {
	o.Discard()
	return nil
}

// Discard removes the file unless it was handed over.
func (o *Output) Discard() {
	o.seal()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.moved && o.file != nil {
		os.Remove(o.path) // ok: it may be gone
	}
}

// MoveTo hands the file over under a new name. If it exceeds 64 MB, only the beginning and end
// are kept, with a line about the omitted part.
func (o *Output) MoveTo(path string) error {
	if err := o.Make(); err != nil {
		return err
	}
	o.seal()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size > maxMoved {
		if err := shrink(o.path, maxMoved); err != nil {
			return err
		}
	}
	if err := os.Rename(o.path, path); err != nil {
		return err
	}
	o.path, o.moved = path, true
	return nil
}

// shrink removes lines from the middle of a file to reduce it to at most max bytes.
func shrink(path string, max int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("shortening the output: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("shortening the output: %w", err)
	}
	const near = 64 << 10 // search distance for a line break; also leaves room for the line about the cut
	size := info.Size()
	head, tail := max/2-near, size-max/2+near
	buf := make([]byte, near)
	if n, _ := f.ReadAt(buf, head-near); n == near { // ok: without it, a line is split
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			head += int64(i+1) - near
		}
	}
	if n, _ := f.ReadAt(buf, tail); n == near { // ok: as above
		tail += int64(bytes.IndexByte(buf, '\n') + 1)
	}
	mark := fmt.Sprintf("[... %d bytes are left out here ...]\n", tail-head)
	_, err = f.WriteAt([]byte(mark), head)
	n, copyErr := io.Copy(io.NewOffsetWriter(f, head+int64(len(mark))), io.NewSectionReader(f, tail, size-tail))
	if err = errors.Join(err, copyErr, f.Truncate(head+int64(len(mark))+n)); err != nil {
		return fmt.Errorf("shortening the output: %w", err)
	}
	return nil
}

// Lines returns the number of line breaks.
func (o *Output) Lines() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines
}

// RemoveOutputs removes outputs left behind by killed processes. dir may be a pattern that
// matches several directories. keep decides by name and modification time which files to keep.
func RemoveOutputs(dir string, keep func(name string, written time.Time) bool) {
	files, _ := filepath.Glob(filepath.Join(dir, "*"+suffix)) // ok: a directory whose name is an invalid pattern is skipped
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && !keep(info.Name(), info.ModTime()) {
			os.Remove(file) // ok: retried next time
		}
	}
}
