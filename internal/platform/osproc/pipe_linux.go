package osproc

import (
	"os"
	"syscall"
)

// setPipeSize is the fcntl command F_SETPIPE_SZ.
const setPipeSize = 1031

// enlarge makes a pipe hold more. One that may not stays as it is.
func enlarge(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	c.Control(func(fd uintptr) { syscall.RawSyscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeSize) }) // ok: as above
}
