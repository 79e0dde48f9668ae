//go:build !unix

package walk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Elsewhere nothing waits on opening.
const (
	openFlags = os.O_RDONLY
	noFollow  = 1 << 30
)

// openAt opens an entry by its path, and compares what it opened with what is there if links may not be followed.
func (h handle) openAt(name string, flags int) (*os.File, error) {
	path := filepath.Join(h.file.Name(), name)
	f, err := os.OpenFile(path, flags&^noFollow, 0)
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
