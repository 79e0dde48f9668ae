package plugin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"adze/internal/platform/filestate"
)

// A bundle is the folder of a plugin. Nothing outside of it is opened, through whatever links.
type bundle struct {
	dir   string
	quick *quick   // may be nil
	slow  *os.Root // nil until it is needed
}

// openBundle opens a folder whose files may be anything.
func openBundle(dir string) (*bundle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &bundle{dir: dir, slow: root}, nil
}

// openInstalled opens a folder that was checked when the plugin was installed, and so has no devices: there are many of them
// at a start.
func openInstalled(dir string) (*bundle, error) {
	q, err := openQuick(dir)
	if err != nil {
		return nil, err
	}
	if q == nil {
		return openBundle(dir)
	}
	return &bundle{dir: dir, quick: q}, nil
}

// root returns the folder for what cannot be done quickly.
func (f *bundle) root() (root *os.Root, err error) {
	if f.slow == nil {
		f.slow, err = os.OpenRoot(f.dir)
	}
	return f.slow, err
}

func (f *bundle) close() {
	if f.quick != nil {
		f.quick.close()
	}
	if f.slow != nil {
		f.slow.Close() // ok: it was only read
	}
}

// stat asks about a name with slashes, through links.
func (f *bundle) stat(name string) (fs.FileInfo, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	return root.Stat(filepath.FromSlash(name))
}

// isDir reports whether a name without slashes is that of a folder. The error is [fs.ErrNotExist] if there is nothing.
func (f *bundle) isDir(name string) (bool, error) {
	if f.quick != nil {
		if dir, err := f.quick.isDir(name); !errors.Is(err, errSlow) {
			return dir, err
		}
	}
	info, err := f.stat(name)
	return err == nil && info.IsDir(), err
}

// A fileContent is what was read of a file, with its stamp from before it was read: one from after reading could be that of
// another content. The stamp is zero if it is not known, and is there also for a file that could not be read.
type fileContent struct {
	data  []byte
	stamp filestate.Stamp
}

// errSlow says that something cannot be found out quickly.
var errSlow = errors.New("it is a link, or the system does not help")

// read reads a regular file of at most max bytes.
func (f *bundle) read(name string, max int64) (fileContent, error) {
	if f.quick != nil {
		if c, err := f.quick.read(name, max); !errors.Is(err, errSlow) {
			return c, err
		}
	}
	root, err := f.root()
	if err != nil {
		return fileContent{}, err
	}
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fileContent{}, plain(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fileContent{}, errIrregular
	}
	return readAll(file, max, info.Size(), f.stamp(name))
}

// errIrregular is the error of a file that is none.
var errIrregular = errors.New("it is not a regular file")

// readAll reads a file of a size.
func readAll(file io.Reader, max, size int64, stamp filestate.Stamp) (fileContent, error) {
	if size > max {
		return fileContent{stamp: stamp}, fmt.Errorf("it is larger than %d bytes", max)
	}
	data := make([]byte, size+1)
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fileContent{stamp: stamp}, err
	}
	if int64(n) > size {
		return fileContent{stamp: stamp}, errors.New("it is being written")
	}
	return fileContent{data[:n], stamp}, nil
}

// stamp returns the stamp of a file; zero if it is a link.
func (f *bundle) stamp(name string) filestate.Stamp {
	info, err := os.Lstat(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil || !info.Mode().IsRegular() {
		return filestate.Stamp{}
	}
	return filestate.StampOf(info)
}
