package cost

import (
	"encoding/json"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

// facts knows a cheap model, an expensive one and one without a price.
func facts(name string) Facts {
	switch name {
	case "cheap":
		return Facts{Price: &model.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25, CacheWrite1h: 2, Search: 0.01}, ContextWindow: 200_000, MaxOutput: 64_000}
	case "dear":
		return Facts{Price: &model.Price{Input: 10, Output: 50}, ContextWindow: 1_000_000, MaxOutput: 128_000}
	}
	return Facts{ContextWindow: 128_000, MaxOutput: 8_000}
}

var about = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })

// Proves SESS-41.
func TestBook(t *testing.T) {
	type booking struct {
		model string
		usage msg.Usage
		times Times
	}
	tests := []struct {
		name     string
		bookings []booking
		want     Totals
	}{
		{"nothing", nil, Totals{Models: map[string]Model{}}},
		{
			"all kinds of tokens",
			[]booking{{"cheap", msg.Usage{Input: 1000, Output: 200, CacheRead: 5000, CacheWrite: 300, CacheWrite1h: 100, WebSearches: 2}, Times{API: 3 * time.Second, Retries: time.Second}}},
			Totals{
				CostUSD: 0.001 + 0.001 + 0.0005 + 200*1.25e-6 + 100*2e-6 + 0.02,
				API:     3 * time.Second, APIWithoutRetries: 2 * time.Second,
				Usage: msg.Usage{Input: 1000, Output: 200, CacheRead: 5000, CacheWrite: 300, CacheWrite1h: 100, WebSearches: 2},
				Models: map[string]Model{"cheap": {
					Input: 1000, Output: 200, CacheRead: 5000, CacheWrite: 300, WebSearches: 2,
					CostUSD: 0.001 + 0.001 + 0.0005 + 200*1.25e-6 + 100*2e-6 + 0.02, ContextWindow: 200_000, MaxOutput: 64_000,
				}},
			},
		},
		{
			"two models, a duplicate",
			[]booking{
				{"dear", msg.Usage{Input: 100, Output: 10}, Times{API: time.Second}},
				{"cheap", msg.Usage{Input: 100, Output: 10}, Times{API: time.Second}},
				{"dear", msg.Usage{Input: 100, Output: 10}, Times{API: time.Second}},
			},
			Totals{
				CostUSD: 2*0.0015 + 0.00015, API: 3 * time.Second, APIWithoutRetries: 3 * time.Second,
				Usage: msg.Usage{Input: 300, Output: 30},
				Models: map[string]Model{
					"cheap": {Input: 100, Output: 10, CostUSD: 0.00015, ContextWindow: 200_000, MaxOutput: 64_000},
					"dear":  {Input: 200, Output: 20, CostUSD: 0.003, ContextWindow: 1_000_000, MaxOutput: 128_000},
				},
			},
		},
		{
			"no price is not a price of zero",
			[]booking{{"cheap", msg.Usage{Output: 1000}, Times{}}, {"mystery", msg.Usage{Input: 7, Output: 8}, Times{}}},
			Totals{
				CostUSD: 0.005, HasUnknownCost: true, Usage: msg.Usage{Input: 7, Output: 1008},
				Models: map[string]Model{
					"cheap":   {Output: 1000, CostUSD: 0.005, ContextWindow: 200_000, MaxOutput: 64_000},
					"mystery": {Input: 7, Output: 8, HasUnknownCost: true, ContextWindow: 128_000, MaxOutput: 8_000},
				},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := New(facts)
			for _, b := range tt.bookings {
				l.Book(b.model, b.usage, b.times)
			}
			if diff := cmp.Diff(tt.want, l.Totals(), about); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Proves SESS-40.
func TestCumulativeUsageCountsOnce(t *testing.T) {
	l := New(facts)
	for range 2 {
		var a model.Accumulator
		for _, output := range []int{10, 20, 30} {
			a.Add(model.Usage{Usage: msg.Usage{Input: 100, Output: output}})
		}
		l.Book("cheap", a.Usage(), Times{})
	}
	if diff := cmp.Diff(msg.Usage{Input: 200, Output: 60}, l.Totals().Usage); diff != "" {
		t.Error(diff)
	}
}

// Proves SESS-40.
func TestImpossibleUsageIsUnknown(t *testing.T) {
	tests := []struct {
		name  string
		usage msg.Usage
		want  msg.Usage
	}{
		{"negative input", msg.Usage{Input: -1, Output: 5}, msg.Usage{Output: 5, Estimated: true}},
		{"negative output", msg.Usage{Input: 5, Output: -5}, msg.Usage{Input: 5, Estimated: true}},
		{"part larger than the whole", msg.Usage{CacheWrite: 5, CacheWrite1h: 6}, msg.Usage{CacheWrite: 5, CacheWrite1h: 5, Estimated: true}},
	}
	for _, tt := range tests {
		l := New(facts)
		l.Book("cheap", tt.usage, Times{})
		got := l.Totals()
		if diff := cmp.Diff(tt.want, got.Usage); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if !got.Estimated || !got.HasUnknownCost || got.CostUSD < 0 {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	l := New(facts)
	l.Book("cheap", msg.Usage{Output: 5, Estimated: true}, Times{})
	if got := l.Totals(); !got.Estimated || got.HasUnknownCost {
		t.Errorf("an estimate has a cost: %+v", got)
	}
}

// Proves SESS-43.
func TestExhausted(t *testing.T) {
	l := New(facts)
	response := msg.Usage{Output: 1200} // 0.006 USD with cheap
	requests := 0
	out := func(l *Ledger, limit float64) bool { _, out := l.Exhausted(limit); return out }
	for ; !out(l, 0.01) && requests < 10; requests++ {
		l.Book("cheap", response, Times{})
	}
	if requests != 2 {
		t.Errorf("%d requests within 0.01 USD, want 2", requests)
	}
	for _, none := range []float64{0, -1, math.NaN()} {
		if out(l, none) {
			t.Errorf("limit %v counts as one", none)
		}
	}

	exact := New(facts)
	for range 8 {
		exact.Book("cheap", msg.Usage{Output: 20_000}, Times{}) // 0.1 each; the sum is 0.7999999999999999
	}
	if !out(exact, 0.8) {
		t.Errorf("%.17g USD is within a limit of 0.8", exact.Totals().CostUSD)
	}
}

func TestTotalsJSON(t *testing.T) {
	l := New(facts)
	for _, m := range []string{"mystery", "cheap"} {
		l.Book(m, msg.Usage{Input: 1000}, Times{API: 2, Retries: 1})
	}
	l.AddTool(5)
	l.AddLines(3, 1)
	l.AddLines(0, 1)
	got, err := json.Marshal(l.Totals())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"totalCostUSD":0.001,"hasUnknownCost":true,"apiNanoseconds":4,"apiWithoutRetriesNanoseconds":2,` +
		`"toolNanoseconds":5,"linesAdded":3,"linesRemoved":2,"modelUsage":{` +
		`"cheap":{"inputTokens":1000,"outputTokens":0,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.001,"contextWindow":200000,"maxOutputTokens":64000},` +
		`"mystery":{"inputTokens":1000,"outputTokens":0,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0,"hasUnknownCost":true,"contextWindow":128000,"maxOutputTokens":8000}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	l := New(facts)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l.Book("cheap", msg.Usage{Input: 1}, Times{API: 1})
				l.AddTool(1)
				l.AddLines(1, 1)
				l.Totals().Models["cheap"] = Model{} // a copy: the account does not change
				l.Exhausted(1)
			}
		})
	}
	wg.Wait()
	got := l.Totals()
	if got.Models["cheap"].Input != 800 || got.Tool != 800 || got.LinesAdded != 800 || got.API != 800 {
		t.Errorf("%+v", got)
	}
}

// TestBookAside checks that side questions are booked by model and by purpose, and that a
// resumed session continues the account.
func TestBookAside(t *testing.T) {
	l := New(facts)
	l.Book("dear", msg.Usage{Input: 10}, Times{})
	l.BookAside("titles", "cheap", msg.Usage{Input: 1000, CacheRead: 500, Output: 200}, Times{API: time.Second})
	l.BookAside("titles", "mystery", msg.Usage{Input: 1, Output: -1}, Times{})
	kept, err := ParseRecord(l.Totals().AppendRecord(nil))
	if err != nil {
		t.Fatal(err)
	}
	again := New(facts)
	again.BookAside("auto mode", "cheap", msg.Usage{Output: 1000}, Times{})
	again.Restore(kept)
	want := map[string]Share{
		"titles":    {Requests: 2, Input: 1501, Output: 200, CostUSD: 0.001 + 0.00005 + 0.001, HasUnknownCost: true},
		"auto mode": {Requests: 1, Output: 1000, CostUSD: 0.005},
	}
	got := again.Totals()
	if diff := cmp.Diff(want, got.Asides, about); diff != "" {
		t.Error(diff)
	}
	if m := got.Models["cheap"]; m.Input != 1000 || m.Output != 1200 || !got.HasUnknownCost {
		t.Errorf("%+v", got)
	}
	if _, err := ParseRecord([]byte(`{"modelUsage":{},"usage":{},"sideRequests":{"titles":{"requests":-1}}}`)); err == nil {
		t.Error("less than nothing was read")
	}
}
