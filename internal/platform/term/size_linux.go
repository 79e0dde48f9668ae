package term

import (
	"os"
	"syscall"
)

const (
	getTermios = syscall.TCGETS
	setTermios = syscall.TCSETS
	inputQueue = syscall.TIOCINQ // the number of bytes that were typed and not read
)

// DropInput drops what was typed and not read: another program would take the rest of a key, or what the terminal reports,
// for what the user types.
func DropInput(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	const flush, input = 0x540b, 0                                                          // TCFLSH and TCIFLUSH on all architectures that adze is built for
	conn.Control(func(fd uintptr) { syscall.Syscall(syscall.SYS_IOCTL, fd, flush, input) }) // ok: what is left is typed elsewhere
}
