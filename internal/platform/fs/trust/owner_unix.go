//go:build unix

package trust

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// identity distinguishes a directory from others at the same path.
func identity(info fs.FileInfo) (device, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), uint64(st.Ino)
	}
	return 0, 0
}

// private returns an error if other users could have written the file.
func private(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("others may write to it")
	case ok && int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return errors.New("it belongs to another user")
	}
	return nil
}
