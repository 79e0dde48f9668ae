// Package parallel runs n calls on a fixed number of workers.
package parallel

import (
	"sync"
	"sync/atomic"
)

// workers is the number of concurrent calls. File system work mostly waits for the system.
const workers = 4

// Do calls f with each number below n, on several goroutines, and returns when all calls have
// returned. If n is small, it makes the calls sequentially, which is just as fast.
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
