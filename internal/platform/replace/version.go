package replace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"
)

// A Version is the content of a file at one time.
type Version struct {
	// Data is gone after Close. That of a large file is a view of the file itself: if another program
	// shortens the file meanwhile, it is not there any more. See [Guard].
	Data []byte
	Info fs.FileInfo

	file *os.File
	id   identity
	free func()
}

// Close gives back the memory of Data.
func (v *Version) Close() {
	v.Data = nil
	v.file.Close() // ok: it was only read
	if v.free != nil {
		v.free()
	}
}

// Read returns the whole file, if it is a regular file of at most max bytes.
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
		return fmt.Errorf("%w: it says that it is empty, and is not", ErrSpecial)
	case err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && more(v.file):
		return fmt.Errorf("%w: it had %d bytes, and then not", ErrChanged, n)
	case err != nil:
		return err
	}
	return nil
}

// more reports whether there is anything left to read.
func more(r io.Reader) bool {
	n, _ := r.Read(make([]byte, 1)) // ok: an error is not more content
	return n > 0
}

// unsized reports whether a file that holds something still says that it is empty, as those of /proc do.
func unsized(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Size() == 0
}

// Guard runs f, which looks at the content of a version, and returns [ErrChanged] if that is not there
// any more.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // of memory that went away
			err = ErrChanged
		default:
			panic(fault)
		}
	}()
	return f()
}
