package cost

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/msg"
)

// Proves SESS-42.
func TestAccountGoesOn(t *testing.T) {
	facts := func(name string) Facts {
		if name == "free" {
			return Facts{ContextWindow: 1}
		}
		return Facts{Price: &model.Price{Input: 1e6, Output: 2e6}, ContextWindow: 200, MaxOutput: 20}
	}
	book := func(l *Ledger, n int) {
		l.Book("m", msg.Usage{Input: n, Output: 1, CacheWrite: 4, CacheWrite1h: 2, WebSearches: 1}, Times{API: 5 * time.Second, Retries: time.Second})
		l.Book("free", msg.Usage{Input: 1, Estimated: true}, Times{})
		l.AddTool(time.Second)
		l.AddLines(3, 2)
	}
	whole := New(facts)
	book(whole, 7)
	book(whole, 9)

	before := New(facts)
	book(before, 7)
	kept, err := ParseRecord(before.Totals().AppendRecord(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Totals(), kept); diff != "" {
		t.Error(diff)
	}
	after := New(facts)
	after.Restore(kept)
	book(after, 9)
	if diff := cmp.Diff(whole.Totals(), after.Totals()); diff != "" {
		t.Error(diff)
	}
	kept.Models["m"] = Model{} // the ledger has its own copy
	if diff := cmp.Diff(whole.Totals(), after.Totals()); diff != "" {
		t.Error(diff)
	}
}

// Proves SESS-42.
func TestParseRecordRefuses(t *testing.T) {
	good := string(New(func(string) Facts { return Facts{} }).Totals().AppendRecord(nil))
	for _, bad := range []string{
		"", "null", "{}", "[]", `{"modelUsage":{}}`, good[:len(good)-1],
		strings.Replace(good, `"totalCostUSD":0`, `"totalCostUSD":-1`, 1),
		strings.Replace(good, `"linesAdded":0`, `"linesAdded":-1`, 1),
		strings.Replace(good, `"modelUsage":{}`, `"modelUsage":{"m":{"inputTokens":-3}}`, 1),
		strings.Replace(good, `"usage":{`, `"usage":{"input":-1,`, 1)[:20],
	} {
		if got, err := ParseRecord([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestCostThatIsNoNumber(t *testing.T) {
	in := Totals{CostUSD: math.NaN(), LinesAdded: 3, Models: map[string]Model{"m": {CostUSD: math.Inf(1), Input: 2}}}
	got, err := ParseRecord(in.AppendRecord(nil))
	want := Totals{HasUnknownCost: true, LinesAdded: 3, Models: map[string]Model{"m": {HasUnknownCost: true, Input: 2}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<40)
		in := Totals{
			CostUSD: rapid.Float64Range(0, 1e6).Draw(t, "usd"), HasUnknownCost: rapid.Bool().Draw(t, "unknown"),
			API: time.Duration(n.Draw(t, "api")), LinesRemoved: n.Draw(t, "removed"),
			Usage:  msg.Usage{Input: n.Draw(t, "in"), CacheRead: n.Draw(t, "read")},
			Models: rapid.MapOf(rapid.String(), rapid.Custom(func(t *rapid.T) Model { return Model{Output: n.Draw(t, "out")} })).Draw(t, "models"),
		}
		for name := range in.Models {
			if strings.ToValidUTF8(name, "") != name {
				delete(in.Models, name)
			}
		}
		got, err := ParseRecord(in.AppendRecord(nil))
		if diff := cmp.Diff(in, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	})
}
