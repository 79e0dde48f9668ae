package replace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"
)

// A Version is a snapshot of a file's content.
type Version struct {
	// Data is invalid after Close. For a large file it is mapped memory, which becomes
	// inaccessible if another program truncates the file. See [Guard].
	Data []byte
	Info fs.FileInfo

	file *os.File
	id   identity
	free func()
}

// Close releases Data.
func (v *Version) Close() {
	v.Data = nil
	v.file.Close() // ok: opened read-only
	if v.free != nil {
		v.free()
	}
}

// Read returns the content of the file, which must be a regular file of at most max bytes.
func (f *File) Read(max int64) (*Version, error) {
	if err := f.r.step("read"); err != nil {
		return nil, err
	}
	file, err := f.dir.open(f.name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	v := &Version{file: file}
	if err := v.fill(max); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

func (v *Version) fill(max int64) error {
	info, err := v.file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w (%s)", ErrSpecial, info.Mode().Type())
	case info.Size() > max:
		return &TooLarge{info.Size(), max}
	}
	v.Info, v.id = info, identify(info, time.Now())
	if v.Data, v.free = view(v.file, info.Size()); v.Data != nil {
		return nil
	}
	v.Data = make([]byte, info.Size())
	n, err := io.ReadFull(v.file, v.Data)
	switch {
	case err == nil && n == 0 && more(v.file) && unsized(v.file):
		return fmt.Errorf("%w: it reports size 0 but has content", ErrSpecial)
	case err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && more(v.file):
		return fmt.Errorf("%w: it had %d bytes, and then not", ErrChanged, n)
	case err != nil:
		return err
	}
	return nil
}

// more reports whether r has more data.
func more(r io.Reader) bool {
	n, _ := r.Read(make([]byte, 1)) // ok: an error means no more data
	return n > 0
}

// unsized reports whether a non-empty file has a size of 0, as in /proc.
func unsized(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Size() == 0
}

// Guard calls f, which accesses a version's content, and returns [ErrChanged] if the content
// has become inaccessible.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // the mapped file was truncated
			err = ErrChanged
		default:
			panic(fault)
		}
	}()
	return f()
}
