//go:build !race

package fileindex

import (
	"slices"
	"testing"
	"time"
)

// TestSpeed types queries letter by letter. It takes the best of some runs of each: what else the
// machine does can only slow it down.
//
// Proves IDX-07.
func TestSpeed(t *testing.T) {
	ns := many(200_000)
	var took []time.Duration
	for _, query := range queries() {
		for i := range query {
			best := time.Hour
			for range 4 {
				began := time.Now()
				find(t, ns, query[:i+1])
				best = min(best, time.Since(began))
			}
			took = append(took, best)
		}
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	if p95 > 30*time.Millisecond {
		t.Errorf("of 100 queries, 95 take at most %v", p95)
	}
	t.Logf("median %v, p95 %v, slowest %v", took[len(took)/2], p95, took[len(took)-1])
}
