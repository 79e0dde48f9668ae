package osproc

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit waits until a child has ended, if that can be done without a thread that waits for it alone. The child has
// not been waited for, so that the number is its own.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	c.Read(func(fd uintptr) bool { // ok: the caller waits in any case
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
