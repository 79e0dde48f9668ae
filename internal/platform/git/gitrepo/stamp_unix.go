//go:build unix

package gitrepo

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func stampOf(path string, l statMode) stamp {
	var st unix.Stat_t
	stat := unix.Lstat
	if l == target {
		stat = unix.Stat
	}
	if err := stat(path, &st); err != nil {
		var number syscall.Errno
		switch {
		case !errors.As(err, &number):
			return stamp{problem: 1}
		case number == unix.ENOENT || number == unix.ENOTDIR:
			return stamp{}
		}
		return stamp{problem: uintptr(number)}
	}
	s := stamp{device: uint64(st.Dev), inode: uint64(st.Ino)}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		s.mode = uint32(os.ModeDir)
		if l == listing {
			s.changed, s.status = st.Mtim.Nano(), st.Ctim.Nano()
		}
		return s
	case unix.S_IFLNK:
		s.mode = uint32(os.ModeSymlink)
	case unix.S_IFREG:
	default:
		s.mode = uint32(os.ModeIrregular)
	}
	s.size, s.changed, s.status = st.Size, st.Mtim.Nano(), st.Ctim.Nano()
	return s
}
