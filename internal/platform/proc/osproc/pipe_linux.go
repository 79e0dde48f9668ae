package osproc

import (
	"os"
	"syscall"
)

// setPipeSize is the fcntl command F_SETPIPE_SZ.
const setPipeSize = 1031

// enlarge increases a pipe's capacity if permitted.
func enlarge(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	c.Control(func(fd uintptr) { syscall.RawSyscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeSize) }) // ok: as above
}
