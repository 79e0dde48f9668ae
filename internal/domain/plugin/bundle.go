package plugin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"adze/internal/platform/fs/filestate"
)

// A bundle is a plugin's directory. Nothing outside it is ever opened, even through symlinks.
type bundle struct {
	dir   string
	quick *quick   // may be nil
	slow  *os.Root // nil until it is needed
}

// openBundle opens a directory whose contents are untrusted.
func openBundle(dir string) (*bundle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &bundle{dir: dir, slow: root}, nil
}

// openInstalled opens a directory that was checked at install time and so has no device files.
// Skipping that check matters because many plugins are opened at startup.
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

// root returns the os.Root used when the quick path does not apply.
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

// stat returns information about a slash-separated name, following symlinks.
func (f *bundle) stat(name string) (fs.FileInfo, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	return root.Stat(filepath.FromSlash(name))
}

// isDir reports whether a name without slashes is a directory. The error is [fs.ErrNotExist] if
// the name does not exist.
func (f *bundle) isDir(name string) (bool, error) {
	if f.quick != nil {
		if dir, err := f.quick.isDir(name); !errors.Is(err, errSlow) {
			return dir, err
		}
	}
	info, err := f.stat(name)
	return err == nil && info.IsDir(), err
}

// A fileContent is a file's content with its stamp from before the read; a later stamp could
// belong to different content. The stamp is zero if unknown, and may be set even if the file
// could not be read.
type fileContent struct {
	data  []byte
	stamp filestate.Stamp
}

// errSlow is returned when the quick path can't answer.
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

// errIrregular is returned for anything but a regular file.
var errIrregular = errors.New("it is not a regular file")

// readAll reads a file whose size is known, up to max bytes.
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

// stamp returns a file's stamp, or zero if it is a symlink.
func (f *bundle) stamp(name string) filestate.Stamp {
	info, err := os.Lstat(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil || !info.Mode().IsRegular() {
		return filestate.Stamp{}
	}
	return filestate.StampOf(info)
}
