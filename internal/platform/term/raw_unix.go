//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package term

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// Raw lets the terminal f deliver every key at once, unseen, those that would be signals too. What is
// written to it is still treated as text. Restore brings back what was.
func Raw(f *os.File) (restore func(), err error) {
	var was syscall.Termios
	if !ioctl(f, getTermios, unsafe.Pointer(&was)) {
		return nil, errors.New("not a terminal")
	}
	raw := was
	raw.Lflag &^= syscall.ICANON | syscall.ECHO | syscall.ISIG | syscall.IEXTEN
	raw.Iflag &^= syscall.IXON | syscall.ICRNL | syscall.INLCR | syscall.IGNCR | syscall.ISTRIP
	raw.Cc[syscall.VMIN], raw.Cc[syscall.VTIME] = 1, 0
	if !ioctl(f, setTermios, unsafe.Pointer(&raw)) {
		return nil, errors.New("the terminal cannot be set to deliver keys")
	}
	return func() { ioctl(f, setTermios, unsafe.Pointer(&was)) }, nil
}

// Suspend stops the program, as Ctrl-Z does, until the user resumes it.
func Suspend() error { return syscall.Kill(0, syscall.SIGTSTP) }
