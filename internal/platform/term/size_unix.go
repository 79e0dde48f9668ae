//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package term

import (
	"os"
	"syscall"
	"unsafe"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	var t syscall.Termios
	return ioctl(f, getTermios, unsafe.Pointer(&t))
}

// Size returns the width and height of the terminal f in characters, or zeros if unknown.
func Size(f *os.File) (width, height int) {
	var size struct{ rows, columns, x, y uint16 }
	if !ioctl(f, syscall.TIOCGWINSZ, unsafe.Pointer(&size)) {
		return 0, 0
	}
	return int(size.columns), int(size.rows)
}

func ioctl(f *os.File, request uintptr, arg unsafe.Pointer) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
	})
	return err == nil && errno == 0
}
