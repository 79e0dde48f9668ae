package term

import (
	"os"
	"syscall"
)

const (
	getTermios = syscall.TCGETS
	setTermios = syscall.TCSETS
	inputQueue = syscall.TIOCINQ // number of unread bytes
)

// DropInput discards unread input. Another program would mistake the rest of a key or a
// terminal report for user input.
func DropInput(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	const flush, input = 0x540b, 0                                                          // TCFLSH and TCIFLUSH on all supported architectures
	conn.Control(func(fd uintptr) { syscall.Syscall(syscall.SYS_IOCTL, fd, flush, input) }) // ok: at worst the input goes to another program
}
