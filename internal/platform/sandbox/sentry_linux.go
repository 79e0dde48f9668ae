package sandbox

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// notices receives kernel notifications (inotify) about names that appear in directories.
type notices struct {
	mu   sync.Mutex
	file *os.File // nil before the first directory
	fd   int
	dirs map[int]string // keyed by inotify watch descriptor
}

// add requests notifications for a directory and reports whether they are available: other
// programs of the same user may have exhausted the limit. They are passed to noticed from
// another goroutine.
func (n *notices) add(dir string, noticed func(dir, name string)) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return false
		}
		n.file, n.fd, n.dirs = os.NewFile(uintptr(fd), "notices"), fd, map[int]string{}
		go n.read(n.file, noticed)
	}
	number, err := unix.InotifyAddWatch(n.fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR)
	if err == nil {
		n.dirs[number] = dir
	}
	return err == nil
}

// remove cancels the notifications for a directory.
func (n *notices) remove(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for number, have := range n.dirs {
		if have == dir {
			unix.InotifyRmWatch(n.fd, uint32(number)) // ok: may be gone
			delete(n.dirs, number)
		}
	}
}

func (n *notices) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file != nil {
		n.file.Close() // ok: read only
		n.file = nil
	}
}

// read passes notifications on until the file is closed.
func (n *notices) read(f *os.File, noticed func(dir, name string)) {
	buf := make([]byte, 64*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
	for {
		size, err := f.Read(buf)
		if err != nil {
			return
		}
		for rest := buf[:size]; len(rest) >= unix.SizeofInotifyEvent; {
			number, mask := int(int32(binary.NativeEndian.Uint32(rest))), binary.NativeEndian.Uint32(rest[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:end]), "\x00")
			rest = rest[end:]
			n.mu.Lock()
			dir := n.dirs[number]
			n.mu.Unlock()
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				noticed("", "")
			case dir != "" && name != "":
				noticed(dir, name)
			}
		}
	}
}

// holds reports whether name exists in dir.
func holds(dir *os.File, name string) bool {
	var stat unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return !errors.Is(err, unix.ENOENT)
}

// moveFrom moves name in dir to a path that does not exist.
func moveFrom(dir *os.File, name, to string) error {
	return unix.Renameat(int(dir.Fd()), name, unix.AT_FDCWD, to)
}
