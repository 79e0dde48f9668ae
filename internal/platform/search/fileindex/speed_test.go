package fileindex

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkTyping types queries letter by letter over 200,000 paths and reports the 95th
// percentile; the target is 30 ms on an idle machine.
func BenchmarkTyping(b *testing.B) {
	ns := many(200_000)
	var took []time.Duration
	for b.Loop() {
		for _, query := range queries() {
			for i := range query {
				began := time.Now()
				find(b, ns, query[:i+1])
				took = append(took, time.Since(began))
			}
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100])/1e6, "ms-p95")
}
