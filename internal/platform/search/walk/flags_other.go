//go:build !unix

package walk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"adze/internal/platform/fs/fsys"
)

// On other systems opening never blocks.
const (
	openFlags = os.O_RDONLY
	noFollow  = 1 << 30
)

// openAt opens an entry by path and, if links must not be followed, checks that it opened the
// file that is there.
func (h handle) openAt(name string, flags int) (*os.File, error) {
	path := filepath.Join(h.file.Name(), name)
	f, err := fsys.OpenFile(path, flags&^noFollow, 0)
	if err != nil || flags&noFollow == 0 {
		return f, err
	}
	info, err := f.Stat()
	if err == nil {
		var direct fs.FileInfo
		if direct, err = os.Lstat(path); err == nil && !os.SameFile(info, direct) {
			err = syscall.ELOOP
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (h handle) stat(name string) (Info, error) {
	info, err := os.Lstat(filepath.Join(h.file.Name(), name))
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}
