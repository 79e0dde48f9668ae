//go:build !unix

package term

import (
	"errors"
	"os"
	"time"
)

// Awaits says that there are waiters here.
const Awaits = false

// A Waiter waits for input of a terminal without reading it. There is none here.
type Waiter struct{}

// NewWaiter returns an error: here a terminal can only be read.
func NewWaiter(*os.File) (*Waiter, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (w *Waiter) Close() {}

// Wake does nothing.
func (w *Waiter) Wake() {}

// Await does nothing.
func (w *Waiter) Await(time.Duration) bool { return false }
