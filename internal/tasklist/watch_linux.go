package tasklist

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// notices returns a func that waits until the kernel tells of changes in a directory. It reports false when ctx is done.
// It is nil if there are no notices: programs of the same user may have used them up.
func notices(ctx context.Context, dir string) func() bool {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "notices")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_DELETE|unix.IN_ONLYDIR); err != nil {
		file.Close() // ok: nothing was read
		return nil
	}
	context.AfterFunc(ctx, func() { file.Close() }) // ok: it was only read
	buf := make([]byte, 64*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
	return func() bool {
		_, err := file.Read(buf)
		return err == nil
	}
}
