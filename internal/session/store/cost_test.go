package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/model/cost"
	"adze/internal/msg"
)

// costLines returns the cost records of a log.
func costLines(t *testing.T, path string) (lines [][]byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte(`{"type":"cost-state"`)) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestCostOfManyAgents checks that the cost records grow linearly with the number of agents and
// include all of them.
//
// Proves SESS-42.
func TestCostOfManyAgents(t *testing.T) {
	size := func(agents int) int {
		opt := options(t)
		l, account := open(t, opt), cost.New(func(string) cost.Facts { return cost.Facts{} })
		for i := range agents {
			agent := account.Child(fmt.Sprintf("a%08d", i), "an agent")
			agent.Book("m", msg.Usage{Input: 100, Output: i}, cost.Times{})
			err := errors.Join(l.Append(text(fmt.Sprint(i), strings.Repeat("x", 2000))), l.Note(Cost{account}))
			account.Book("m", msg.Usage{Input: 1}, cost.Times{})
			if err := errors.Join(err, l.Note(Cost{account})); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		want := account.Totals()
		if diff := cmp.Diff(&want, load(t, l.Path()).State.Cost); diff != "" {
			t.Error(diff)
		}
		return len(bytes.Join(costLines(t, l.Path()), nil))
	}
	few, many := size(100), size(400)
	t.Logf("%d bytes with 100 agents, %d with 400", few, many)
	if many > 5*few {
		t.Errorf("%d bytes with 400 agents, %d with 100", many, few)
	}
}

// TestCostOfAgentsIsRestored checks that loading restores the same tree of agents, for any use
// and any number of resumes. If lines were lost, the tree's sum still matches the last record.
//
// Proves SESS-42, SESS-45.
func TestCostOfAgentsIsRestored(t *testing.T) {
	facts := func(string) cost.Facts { return cost.Facts{} }
	rapid.Check(t, func(r *rapid.T) {
		opt := Options{Home: t.TempDir(), Dir: "/work/app", Session: "s-1", NoSync: true}
		var l *Log
		account := cost.New(facts)
		agents := []*cost.Ledger{account}
		begin := func() {
			var err error
			if l, err = Open(opt); err != nil {
				r.Fatal(err)
			}
		}
		begin()
		l.Append(text("first", "hi"))
		for i := range rapid.IntRange(1, 60).Draw(r, "steps") {
			at := rapid.IntRange(0, len(agents)-1).Draw(r, "agent")
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0:
				agents = append(agents, agents[at].Child(fmt.Sprint("a", i), "title"))
			case 1:
				agents[at].Book("m", msg.Usage{Input: i, Output: 1}, cost.Times{})
			case 2:
				l.Append(text(fmt.Sprint(i), strings.Repeat("x", rapid.IntRange(0, 4000).Draw(r, "length"))))
			case 3:
				l.Close()
				now := account.Totals()
				account = cost.New(facts)
				account.Restore(now)
				for j := range agents {
					agents[j] = account
				}
				begin()
			default:
				l.Note(Cost{account})
			}
		}
		l.Note(Cost{account})
		l.Close()
		want := cost.New(facts)
		want.Restore(account.Totals())
		if diff := cmp.Diff(want.Totals().Tree(), restored(load(t, l.Path()).State.Cost).Tree()); diff != "" {
			r.Fatal(diff)
		}
		lines := costLines(t, l.Path())
		data, _ := os.ReadFile(l.Path())
		for _, lost := range lines[:len(lines)-1] {
			if rapid.Bool().Draw(r, "lost") {
				data = bytes.Replace(data, lost, []byte("{\n"), 1)
			}
		}
		if err := os.WriteFile(l.Path(), data, 0o600); err != nil {
			r.Fatal(err)
		}
		total := restored(load(t, l.Path()).State.Cost)
		var sum cost.Share
		for _, row := range total.Tree() {
			sum.Input, sum.Output = sum.Input+row.Input, sum.Output+row.Output
		}
		if sum.Input != total.Usage.Input || sum.Output != total.Usage.Output || total.Usage != account.Totals().Usage {
			r.Fatalf("the agents have %+v of %+v", sum, total.Usage)
		}
	})
}

// restored returns an account after it was resumed.
func restored(t *cost.Totals) cost.Totals {
	l := cost.New(func(string) cost.Facts { return cost.Facts{} })
	l.Restore(*t)
	return l.Totals()
}

// TestCostAfterACut checks that the next cost record lists all agents if another program
// truncated the log.
func TestCostAfterACut(t *testing.T) {
	opt := options(t)
	l, account := open(t, opt), cost.New(func(string) cost.Facts { return cost.Facts{} })
	if err := l.Append(text("1", "hi")); err != nil {
		t.Fatal(err)
	}
	start, err := os.Stat(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		account.Child(fmt.Sprint("a", i), "").Book("m", msg.Usage{Input: 1}, cost.Times{})
		if err := errors.Join(l.Append(text(fmt.Sprint("m", i), "more")), l.Note(Cost{account})); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(l.Path(), start.Size()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Append(text("2", "on")), l.Note(Cost{account}), l.Close()); err != nil {
		t.Fatal(err)
	}
	if got := load(t, l.Path()).State.Cost; len(got.Agents) != 3 {
		t.Errorf("the log has %+v", got.Agents)
	}
}

// TestCostOfAnOlderLog checks logs of an earlier version, whose records all list every agent.
func TestCostOfAnOlderLog(t *testing.T) {
	opt := options(t)
	l := open(t, opt)
	if err := errors.Join(l.Append(text("1", "hi")), l.Close()); err != nil {
		t.Fatal(err)
	}
	for _, agents := range []string{`{"id":"a1","requests":1,"inputTokens":5,"outputTokens":0,"costUSD":0}`,
		`{"id":"a1","requests":2,"inputTokens":7,"outputTokens":0,"costUSD":0},{"id":"a2","parent":"a1","requests":1,"inputTokens":1,"outputTokens":0,"costUSD":0}`} {
		appendTo(t, l.Path(), `{"type":"cost-state","cost":{"totalCostUSD":0,"hasUnknownCost":true,"apiNanoseconds":0,"apiWithoutRetriesNanoseconds":0,"toolNanoseconds":0,`+
			`"linesAdded":0,"linesRemoved":0,"modelUsage":{},"mainUsage":{"requests":1,"inputTokens":2,"outputTokens":0,"costUSD":0},"agentUsage":[`+agents+`],`+
			`"usage":{"input":10,"output":0,"cacheRead":0,"cacheWrite":0,"cacheWrite1h":0,"webSearches":0}},"sessionId":"s-1"}`+"\n")
	}
	got := load(t, l.Path()).State.Cost
	if got == nil || len(got.Agents) != 2 || got.Agents[0].Input != 7 || got.Agents[1].Parent != "a1" || got.Own.Input != 2 {
		t.Errorf("the log has %+v", got)
	}
}
