// Package bell broadcasts change notifications to goroutines.
package bell

import (
	"context"
	"sync"
)

// A Bell notifies any number of waiting goroutines. The zero value is ready to use.
type Bell struct {
	mu   sync.Mutex
	next chan struct{} // nil if no goroutine is waiting
}

// Ring wakes all waiting goroutines.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

// Next returns a channel that is closed when the bell rings next.
func (b *Bell) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Any returns a channel that is closed when any of the bells rings next, or when ctx is done.
func Any(ctx context.Context, bells ...*Bell) <-chan struct{} {
	any := make(chan struct{})
	var once sync.Once
	for _, b := range bells {
		next := b.Next()
		go func() {
			select {
			case <-next:
			case <-ctx.Done():
			case <-any:
			}
			once.Do(func() { close(any) })
		}()
	}
	return any
}
