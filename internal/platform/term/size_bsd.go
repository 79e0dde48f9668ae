//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package term

import (
	"os"
	"syscall"
	"unsafe"
)

const (
	getTermios = syscall.TIOCGETA
	setTermios = syscall.TIOCSETA
	inputQueue = 0x4004667f // FIONREAD: number of unread bytes
)

// DropInput discards unread input. Another program would mistake the rest of a key or a
// terminal report for user input.
func DropInput(f *os.File) {
	read := int32(1)
	ioctl(f, syscall.TIOCFLUSH, unsafe.Pointer(&read))
}
