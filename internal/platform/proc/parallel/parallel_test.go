package parallel

import (
	"sync/atomic"
	"testing"
)

// TestDo checks that each number is used once and that all calls have returned.
func TestDo(t *testing.T) {
	for _, n := range []int{0, 1, 2*workers - 1, 2 * workers, 1000} {
		calls := make([]atomic.Int32, n)
		Do(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("of %d, %d is called %d times", n, i, got)
			}
		}
	}
}
