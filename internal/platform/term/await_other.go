//go:build !unix

package term

import (
	"errors"
	"os"
	"time"
)

// Awaits reports whether this system supports waiters.
const Awaits = false

// A Waiter waits for terminal input without reading it. It is not supported on this system.
type Waiter struct{}

// NewWaiter returns an error: on this system a terminal can only be read.
func NewWaiter(*os.File) (*Waiter, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (w *Waiter) Close() {}

// Wake does nothing.
func (w *Waiter) Wake() {}

// Await does nothing.
func (w *Waiter) Await(time.Duration) bool { return false }
