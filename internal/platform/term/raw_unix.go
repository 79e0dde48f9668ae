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

// Raw makes the terminal f deliver every key immediately and without echo, including keys that
// would send signals. Output processing is unchanged. restore restores the previous mode.
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

// Suspend stops the program like Ctrl-Z and returns when the user has resumed it. The stop
// signal is delivered asynchronously, so Suspend waits for SIGCONT.
func Suspend() error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	// A child process in the middle of starting would be stopped and block this process
	// forever.
	syscall.ForkLock.RLock()
	err := syscall.Kill(0, syscall.SIGTSTP)
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	select {
	case <-resumed:
	case <-time.After(stopping): // the system does not stop a program that no shell can resume
	}
	return nil
}

// stopping exceeds the time it takes to stop a program.
const stopping = 2 * time.Second

// Changes returns a channel that receives a signal when the terminal's size has changed or the
// program is resumed after being stopped; see [Resumes]. It receives none after stop was
// called.
func Changes() (changes <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}

// Resumes reports whether a signal means that the program was stopped and resumed. Another
// program may have changed the terminal in the meantime.
func Resumes(s os.Signal) bool { return s == syscall.SIGCONT }
