package footprint

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeeper checks that memory is released after startup and after much work, when idle, and
// not between keys.
func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used, given atomic.Uint64
		used.Store(5 << 20)
		k := &Keeper{allocated: used.Load, release: func() { given.Add(1) }}
		wait := func(d time.Duration, want uint64, when string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if n := given.Load(); n != want {
				t.Fatalf("%s: memory was given back %d times, not %d", when, n, want)
			}
		}
		for range 10 {
			k.Beat()
			wait(pause/2, 0, "while it starts")
		}
		wait(pause, 1, "after the start")
		k.Beat()
		used.Add(1 << 10)
		wait(time.Hour, 1, "after a key")
		k.Beat()
		used.Add(worth)
		wait(time.Hour, 2, "after a turn")
	})
}
