//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package term

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
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

// Suspend stops the program, as Ctrl-Z does, and returns when the user has resumed it. The signal that stops it is
// delivered while this goes on: only the one that resumes it says that it is over.
func Suspend() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	// A program that is just being started would be stopped halfway, and this one with it, for ever.
	syscall.ForkLock.RLock()
	err := syscall.Kill(0, syscall.SIGTSTP)
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	select {
	case <-resumed:
	case <-time.After(stopping): // no shell could resume it: the system does not stop it then
	}
	return nil
}

// stopping is more than it takes to stop a program.
const stopping = 2 * time.Second

// Changes returns a channel that gets a signal when the size of the terminal has changed, or when the program was stopped
// and is resumed; see [Resumes]. It gets none after stop was called.
func Changes() (changes <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}

// Resumes reports whether a signal says that the program was stopped: another one may have changed the terminal meanwhile.
func Resumes(s os.Signal) bool { return s == syscall.SIGCONT }
