package tasklist

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// notices returns a function that waits until the kernel reports changes in a directory. It
// returns false when ctx is done. notices returns nil if inotify is unavailable, for example
// because the user's limit is exhausted.
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
