package agents

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrowd checks that agents beyond the limit wait in order and that a canceled one gives its
// place to the next.
//
// Proves AGENT-05.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Limiter
		var mu sync.Mutex
		var order []int
		busy, most := 0, 0
		for i := range 7 {
			time.Sleep(time.Millisecond)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				if err := c.acquire(ctx, 2); err != nil {
					if i != 3 || !errors.Is(err, context.Canceled) {
						t.Errorf("agent %d: %v", i, err)
					}
					return
				}
				mu.Lock()
				order = append(order, i)
				busy++
				most = max(most, busy)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				busy--
				mu.Unlock()
				c.release()
			}()
			if i == 3 {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
		}
		start := time.Now()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if most != 2 || len(order) != 6 || c.busy != 0 || len(c.waiting) != 0 {
			t.Errorf("%d at once, in the order %v; %d are left, %d wait, after %v", most, order, c.busy, len(c.waiting), time.Since(start))
		}
		for i, n := range []int{0, 1, 2, 4, 5, 6} {
			if order[i] != n {
				t.Fatalf("the order is %v", order)
			}
		}
	})
}

// TestCrowdWithoutLimit checks that raising the limit admits waiting agents, and that nobody
// waits without a limit.
func TestCrowdWithoutLimit(t *testing.T) {
	var c Limiter
	for range 100 {
		if err := c.acquire(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c.acquire(ctx, 1) == nil || c.busy != 100 {
		t.Error("it did not wait")
	}
	for range maxWaiting {
		c.waiting = append(c.waiting, &waiter{})
	}
	if c.full() == nil {
		t.Error("any number can wait")
	}
}
