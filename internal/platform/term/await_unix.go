//go:build unix

package term

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Awaits reports whether this system supports waiters.
const Awaits = true

// A Waiter waits for terminal input without reading it.
type Waiter struct {
	in         *os.File
	woken, end *os.File // ends of a pipe
}

// NewWaiter returns a waiter for f.
func NewWaiter(f *os.File) (*Waiter, error) {
	woken, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &Waiter{f, woken, end}, nil
}

// Close releases the waiter's resources.
func (w *Waiter) Close() {
	w.woken.Close()
	w.end.Close()
}

// Wake makes Await return. It may be called from another goroutine.
func (w *Waiter) Wake() { w.end.Write([]byte{0}) } // ok: a full pipe also wakes

// Await reports whether there is input or EOF. It returns false after d, where 0 means never,
// and after Wake.
func (w *Waiter) Await(d time.Duration) bool {
	wait := -1
	if d > 0 {
		wait = int((d + time.Millisecond - 1) / time.Millisecond)
	}
	fds := []unix.PollFd{{Fd: int32(w.in.Fd()), Events: unix.POLLIN}, {Fd: int32(w.woken.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(fds, wait); n <= 0 || err != nil {
		return false // interrupted by a signal, which the caller should handle
	}
	if fds[1].Revents != 0 {
		w.woken.Read(make([]byte, 64)) // ok: it is readable
	}
	return fds[0].Revents != 0
}
