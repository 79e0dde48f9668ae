// Package parallel does many small things at the same time. What they are, and their order where it matters, is left to
// others.
package parallel

import (
	"sync"
	"sync/atomic"
)

// workers work at the same time: looking at files is mostly waiting for the system.
const workers = 4

// Do calls f with the numbers below n, some at the same time, and returns when all calls have. A few are called one after the
// other, which is as fast.
func Do(n int, f func(int)) {
	if n < 2*workers {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	work.Wait()
}
