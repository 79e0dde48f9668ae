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
	inputQueue = 0x4004667f // FIONREAD: the number of bytes that were typed and not read
)

// DropInput drops what was typed and not read: another program would take the rest of a key, or what the terminal reports,
// for what the user types.
func DropInput(f *os.File) {
	read := int32(1)
	ioctl(f, syscall.TIOCFLUSH, unsafe.Pointer(&read))
}
