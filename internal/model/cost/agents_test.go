package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model"
	"adze/internal/msg"
)

func priced(name string) Facts {
	if name == "free" {
		return Facts{}
	}
	return Facts{Price: &model.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}}
}

// TestAgentsAreBookedAbove checks that an agent's usage is part of the session's account and of
// its ancestors' accounts.
//
// Proves SESS-40.
func TestAgentsAreBookedAbove(t *testing.T) {
	l := New(priced)
	first := l.Child("a1", "Read the parser")
	second := first.Child("a2", "Look up a name")
	l.Book("m", msg.Usage{Input: 10, Output: 1}, Times{API: time.Second})
	first.Book("m", msg.Usage{Input: 200, Output: 20}, Times{API: time.Second})
	second.BookAside("titles", "m", msg.Usage{Input: 3000, Output: 300}, Times{API: time.Second})
	second.AddTool(time.Minute)
	second.AddLines(7, 5)

	if got := l.Totals(); got.Usage.Input != 3210 || got.Tool != time.Minute || got.LinesAdded != 7 || got.API != 3*time.Second || got.Asides["titles"].Requests != 1 {
		t.Errorf("the session has %+v", got)
	}
	if got := first.Totals(); got.Usage.Input != 3200 || got.Own.Input != 200 || got.LinesRemoved != 5 || len(got.Agents) != 1 {
		t.Errorf("the first agent has %+v", got)
	}
	var tree []string
	for _, r := range l.Totals().Tree() {
		tree = append(tree, fmt.Sprintf("%s%s %s %d/%d", strings.Repeat("  ", r.Depth), r.ID, r.Title, r.Input, r.Output))
	}
	want := []string{"  10/1", "  a1 Read the parser 200/20", "    a2 Look up a name 3000/300"}
	if diff := cmp.Diff(want, tree); diff != "" {
		t.Error(diff)
	}
	if first.Child("a2", "") != second {
		t.Error("an agent that continues has a second account")
	}
}

// TestAgentsShareTheBudget checks that a session's budget includes and limits its agents'
// usage.
//
// Proves SESS-43.
func TestAgentsShareTheBudget(t *testing.T) {
	l := New(func(string) Facts { return Facts{Price: &model.Price{Output: 1e6}} })
	a, b := l.Child("a1", ""), l.Child("a2", "")
	a.Book("m", msg.Usage{Output: 1}, Times{})
	if _, out := b.Exhausted(2); out {
		t.Error("the budget was used up too early")
	}
	l.Book("m", msg.Usage{Output: 1}, Times{})
	if spent, out := b.Exhausted(2); !out || spent != 2 {
		t.Errorf("an agent sees %v spent, %v", spent, out)
	}
}

// Proves SESS-42.
func TestAgentsAreRestored(t *testing.T) {
	before := New(priced)
	before.Book("m", msg.Usage{Input: 1}, Times{})
	agent := before.Child("a1", "Find it")
	agent.Book("free", msg.Usage{Input: 20}, Times{})
	agent.Child("a2", "Count").Book("m", msg.Usage{Output: 300}, Times{})
	kept, err := ParseRecord(before.Totals().AppendRecord(nil))
	if err != nil {
		t.Fatal(err)
	}
	after := New(priced)
	after.Restore(kept)
	if diff := cmp.Diff(before.Totals(), after.Totals()); diff != "" {
		t.Error(diff)
	}
	after.Child("a2", "").Book("m", msg.Usage{Output: 7}, Times{})
	rows := after.Totals().Tree()
	if last := rows[len(rows)-1]; len(rows) != 3 || last.Title != "Count" || last.Output != 307 || last.Depth != 2 {
		t.Errorf("after the agent continued the tree is %+v", rows)
	}
}

// TestOldRecordIsOfTheConversation checks that a record from before agents existed counts as
// the conversation's own.
//
// Proves SESS-42.
func TestOldRecordIsOfTheConversation(t *testing.T) {
	old := `{"totalCostUSD":0.5,"hasUnknownCost":false,"apiNanoseconds":0,"apiWithoutRetriesNanoseconds":0,"toolNanoseconds":0,` +
		`"linesAdded":0,"linesRemoved":0,"modelUsage":{"m":{"inputTokens":4,"outputTokens":2,"cacheReadInputTokens":1,"cacheCreationInputTokens":0,` +
		`"webSearchRequests":0,"costUSD":0.5,"contextWindow":0,"maxOutputTokens":0}},"usage":{"input":4,"output":2,"cacheRead":1,"cacheWrite":0,"cacheWrite1h":0,"webSearches":0}}`
	kept, err := ParseRecord([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	l := New(priced)
	l.Restore(kept)
	l.Child("a1", "New").Book("m", msg.Usage{Input: 1}, Times{})
	if rows := l.Totals().Tree(); rows[0].Share != (Share{Input: 5, Output: 2, CostUSD: 0.5}) || rows[1].Input != 1 {
		t.Errorf("the tree is %+v", rows)
	}
}

// TestAgentsOfBadRecords checks that tampered records still yield a tree: missing parents,
// cycles, duplicate agents.
func TestAgentsOfBadRecords(t *testing.T) {
	in := New(priced).Totals()
	for _, ids := range [][2]string{{"a1", "a2"}, {"a2", "a1"}, {"a3", "a3"}, {"a1", ""}, {"", ""}, {"a4", ""}} {
		in.Agents = append(in.Agents, Agent{ID: ids[0], Parent: ids[1], Share: Share{Requests: 1}})
	}
	l := New(priced)
	l.Restore(in)
	requests := 0
	for _, r := range l.Totals().Tree() {
		requests += r.Requests
	}
	if requests != len(in.Agents) {
		t.Errorf("%d of %d requests are left", requests, len(in.Agents))
	}
	bad := in
	bad.Agents = []Agent{{ID: "a1", Share: Share{Input: -1}}}
	if _, err := ParseRecord(bad.AppendRecord(nil)); err == nil {
		t.Error("less than nothing was taken for an amount")
	}
}

func TestAgentsAreBounded(t *testing.T) {
	l := New(priced)
	for i := range 2 * maxAgents {
		a := l.Child(fmt.Sprint("a", i), "one of many")
		a.Book("m", msg.Usage{Input: 1}, Times{})
		a.Child(fmt.Sprint("b", i), "").Book("m", msg.Usage{Input: 1}, Times{})
	}
	got := l.Totals()
	sum := 0
	for _, r := range got.Tree() {
		sum += r.Input
	}
	if len(got.Agents) != maxAgents || sum != 4*maxAgents || got.Usage.Input != sum {
		t.Errorf("%d agents are listed with %d of %d tokens", len(got.Agents), sum, got.Usage.Input)
	}
}

// TestSharesAddUp checks that the shares add up to the total for any bookings and any number of
// resumes.
//
// Proves SESS-41.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(priced)
		ledgers := []*Ledger{l}
		for i := range rapid.IntRange(0, 30).Draw(t, "steps") {
			at := rapid.SampledFrom(ledgers).Draw(t, "at")
			u := msg.Usage{Input: rapid.IntRange(-1, 1e6).Draw(t, "in"), Output: rapid.IntRange(0, 1e5).Draw(t, "out"), CacheRead: rapid.IntRange(0, 1e6).Draw(t, "read")}
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				ledgers = append(ledgers, at.Child(fmt.Sprint("a", i), "some agent"))
			case 1:
				at.BookAside("titles", "m", u, Times{})
			case 2:
				kept, err := ParseRecord(l.Totals().AppendRecord(nil))
				if err != nil {
					t.Fatal(err)
				}
				l = New(priced)
				l.Restore(kept)
				ledgers = []*Ledger{l}
				for _, a := range kept.Agents {
					ledgers = append(ledgers, l.Child(a.ID, ""))
				}
			default:
				at.Book(rapid.SampledFrom([]string{"m", "free"}).Draw(t, "model"), u, Times{})
			}
		}
		total, sum := l.Totals(), Share{}
		for _, r := range total.Tree() {
			sum = sum.add(r.Share)
		}
		u := total.Usage
		if sum.Input != u.Input+u.CacheRead+u.CacheWrite || sum.Output != u.Output || sum.HasUnknownCost != total.HasUnknownCost {
			t.Fatalf("the sum is %+v, the total %+v", sum, total)
		}
		if math.Abs(sum.CostUSD-total.CostUSD) > 1e-9*(1+total.CostUSD) {
			t.Fatalf("the shares cost %v, all together %v", sum.CostUSD, total.CostUSD)
		}
	})
}
