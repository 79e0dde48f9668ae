//go:build unix && (portable || !linux || !(amd64 || arm64))

package walk

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	openFlags = unix.O_RDONLY | unix.O_NONBLOCK
	noFollow  = unix.O_NOFOLLOW
)

func (h handle) openAt(name string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(h.file.Fd()), name, flags|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), filepath.Join(h.file.Name(), name)), nil
		case unix.EINTR:
		default:
			return nil, err
		}
	}
}

func (h handle) stat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(h.file.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, err
	}
	info := Info{Size: st.Size, Modified: time.Unix(st.Mtim.Unix()).UnixNano(), kind: other}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		info.kind = regular
	case unix.S_IFDIR:
		info.kind = directory
	}
	return info, nil
}
