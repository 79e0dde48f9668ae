//go:build darwin || freebsd || netbsd

package filestate

import (
	"io/fs"
	"syscall"
)

func identity(info fs.FileInfo) (ctime int64, dev, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano(), uint64(st.Dev), uint64(st.Ino)
	}
	return 0, 0, 0
}
