package osproc

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit waits for a child to exit without blocking a thread, if the system supports that.
// It does not reap the child, so the PID stays valid.
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
	c.Read(func(fd uintptr) bool { // ok: the caller calls Wait in any case
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
