package commands

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/tool/change"
)

// Proves SESS-45.
// Proves PROV-57.
func TestLimitsPage(t *testing.T) {
	var p Page
	now := time.Unix(1_700_000_000, 0)
	addLimits(&p, nil, now)
	if len(p.Blocks) > 0 {
		t.Errorf("without limits: %v", p.Blocks)
	}
	addLimits(&p, []model.Limit{{Name: "requests", Most: 60, Left: 12, Reset: now.Add(90 * time.Second)}, {Name: "tokens", Most: 150000, Left: 149984}}, now)
	want := [][]string{{"requests", "80%", "12", "60", "1m30s"}, {"tokens", "1%", "149,984", "150,000", "?"}}
	if diff := cmp.Diff(want, p.Blocks[0].(Table).Rows); diff != "" {
		t.Error(diff)
	}
}

func TestCostPage(t *testing.T) {
	totals := cost.Totals{CostUSD: 1.5, HasUnknownCost: true, API: 90 * time.Second, LinesAdded: 3, Models: map[string]cost.Model{"b": {}, "a": {}}}
	got := costPage(totals)
	want := Fields{
		{"Total cost", "more than $1.50 (the price of some models is unknown)"}, {"Time", "1m30s waiting for the model, 0s running tools"}, {"Lines changed", "3 added, 0 removed"},
	}
	if diff := cmp.Diff(want, got.Blocks[0]); diff != "" {
		t.Error(diff)
	}
	if rows := got.Blocks[1].(Table).Rows; len(rows) != 2 || rows[0][0] != "a" || len(got.Blocks) != 2 {
		t.Error(rows)
	}
	totals.Asides = map[string]cost.Share{"titles": {Requests: 1, HasUnknownCost: true}, "auto mode": {Requests: 2, Input: 30, Output: 4, CostUSD: 0.25}}
	beside := costPage(totals).Blocks[2].(Table).Rows
	if diff := cmp.Diff([][]string{{"auto mode", "2", "30", "4", "$0.25"}, {"titles", "1", "0", "0", "unknown"}}, beside); diff != "" {
		t.Error(diff)
	}
}

// TestCostPageOfAgents checks that the agents' shares form a tree and add up to the total.
//
// Proves SESS-45.
func TestCostPageOfAgents(t *testing.T) {
	l := cost.New(func(string) cost.Facts { return cost.Facts{Price: &model.Price{Output: 1e4}} })
	book := func(l *cost.Ledger, in, out int) { l.Book("m", msg.Usage{Input: in, Output: out}, cost.Times{}) }
	book(l, 1, 10)
	first := l.Child("a1", "Read\nthe parser")
	book(first, 20, 20)
	book(first.Child("a2", "Count"), 300, 40)
	book(l.Child("a3", ""), 4000, 0)
	got := costPage(l.Totals()).Blocks[2].(Table)
	want := [][]string{
		{"main conversation", "1", "1", "10", "$0.10"}, {"  Read the parser a1", "1", "20", "20", "$0.20"}, {"    Count a2", "1", "300", "40", "$0.40"},
		{"  a3", "1", "4,000", "0", "$0.00"}, {"all", "4", "4,321", "70", "$0.70"},
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Error(diff)
	}
}

// TestWorkPage checks that running agents are shown with the files they work on, and that their
// names are sanitized.
func TestWorkPage(t *testing.T) {
	now := time.Unix(10000, 0)
	file := func(path string, ago time.Duration) change.ChangedFile {
		return change.ChangedFile{Path: path, At: now.Add(-ago)}
	}
	main := change.Work{Files: []change.ChangedFile{file("/w/c", time.Hour)}}
	agent := change.Work{By: filehistory.Author{ID: "a1", Title: "Fix\n\x1b[2J it"}, Files: []change.ChangedFile{file("/w/a", 0), file("/w/b", 3*time.Minute)}}
	var alone, both Page
	AddWork(&alone, []change.Work{main}, filepath.Base, now)
	if len(alone.Blocks) != 0 {
		t.Errorf("without agents there is %v", alone.Blocks)
	}
	AddWork(&both, []change.Work{agent, main}, filepath.Base, now)
	want := [][]string{{`agent "Fix \x1b[2J it" (a1)`, "a (just now), b (3m ago)"}, {"main conversation", "c (1h ago)"}}
	if diff := cmp.Diff(want, both.Blocks[0].(Table).Rows); diff != "" {
		t.Error(diff)
	}
}

// TestSaid checks that text added for the model is not shown to the user.
func TestSaid(t *testing.T) {
	m := msg.Message{Role: msg.User, Parts: []msg.Part{&msg.Text{Text: "hello"}, msg.Reminder("be careful"), msg.NewToolUse("x", "Y", "{}"), &msg.Text{Text: "there "}}}
	if got := MessageText(m); got != "hello\nthere" {
		t.Errorf("%q", got)
	}
	if got := MessageText(msg.Message{Parts: []msg.Part{msg.Reminder("x")}}); got != "" {
		t.Errorf("%q", got)
	}
}
