//go:build portable || !linux || !(amd64 || arm64)

package walk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"adze/internal/platform/fs/paths"
)

// This file is for systems where directories are read through the standard library. The build
// tag portable selects it on Linux as well, for testing.

// A handle is an open directory.
type handle struct{ file *os.File }

// openRoot opens a directory. It follows no links, not even in parent directories.
func openRoot(path string) (handle, error) {
	f, err := paths.OpenReal(path)
	return handle{f}, err
}

// openDir opens a directory that is not a link.
func (h handle) openDir(name string) (handle, error) {
	f, err := h.openAt(name, openFlags|noFollow)
	if err != nil {
		return handle{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		f.Close()
		return handle{}, err
	}
	return handle{f}, nil
}

// openFile opens a file that is not a link.
func (h handle) openFile(name string) (File, error) {
	f, err := h.openAt(name, openFlags|noFollow)
	return File{f}, err
}

// openTarget opens a file or a link's target.
func (h handle) openTarget(name string) (File, error) {
	f, err := h.openAt(name, openFlags)
	return File{f}, err
}

func (h handle) close() { h.file.Close() }

func infoOf(info fs.FileInfo) Info {
	return Info{Size: info.Size(), Modified: info.ModTime().UnixNano(), kind: kindOf(info.Mode().Type())}
}

// terminated returns name: this system does not need terminators.
func terminated(name string) string { return name }

// A File is a file open for reading. It must be closed, and is not safe for concurrent use.
type File struct{ file *os.File }

// Read reads up to len(p) bytes. A short read does not mean that the end is near.
func (f File) Read(p []byte) (int, error) { return f.file.Read(p) }

// ReadAt implements io.ReaderAt.
func (f File) ReadAt(p []byte, at int64) (int, error) { return f.file.ReadAt(p, at) }

// Stat returns the file's metadata.
func (f File) Stat() (Info, error) {
	info, err := f.file.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

// Close closes the file.
func (f File) Close() error { return f.file.Close() }

// A reader holds directory entries.
type reader struct {
	list     []fs.DirEntry
	complete bool // the list contains the last entries
}

const readerLen = 2048

// fill replaces the buffered entries by the next ones.
func (r *reader) fill(h handle) error {
	r.list, r.complete = nil, false
	for len(r.list) < readerLen {
		list, err := h.file.ReadDir(readerLen - len(r.list))
		r.list = append(r.list, list...)
		switch {
		case err == io.EOF:
			r.complete = true
			return nil
		case err != nil && len(r.list) > 0 && isGone(err):
			r.complete = true
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// entries yields the buffered entries.
func (r *reader) entries(yield func(entry) bool) {
	for _, e := range r.list {
		if !yield(entry{e.Name(), kindOf(e.Type())}) {
			return
		}
	}
}

func kindOf(t fs.FileMode) kind {
	switch t {
	case 0:
		return regular
	case fs.ModeDir:
		return directory
	}
	return other
}

// isGone reports whether an error means that a file was removed or replaced.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// IsShort reports whether an error means a lack of descriptors or memory: the operation may
// succeed with one worker.
func IsShort(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}
