package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/session/store"
)

// busyLog is a session over two days in which a file is edited.
const busyLog = `{"type":"user","uuid":"e1","parentUuid":null,"sessionId":"s1","timestamp":"2026-11-03T12:00:00Z","message":{"role":"user","content":[{"type":"text","text":"edit it"}]}}
{"type":"assistant","uuid":"e2","parentUuid":"e1","sessionId":"s1","timestamp":"2026-11-03T12:00:01Z","message":{"role":"assistant","model":"m1","content":[{"type":"tool_use","id":"u1","name":"Edit","input":{}},{"type":"tool_use","id":"u2","name":"Read","input":{}}]}}
{"type":"user","uuid":"e3","parentUuid":"e2","sessionId":"s1","timestamp":"2026-11-03T12:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1","content":"ok"}]},"toolUseResult":{"filePath":"/work/app/a.go","structuredPatch":[{"lines":["+x"]}]}}
{"type":"user","uuid":"e4","parentUuid":"e3","sessionId":"s1","timestamp":"2026-11-03T12:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"u2","content":"ok"}]},"toolUseResult":{"filePath":"/work/app/b.go"}}
{"type":"cost-state","cost":{"totalCostUSD":0.5,"modelUsage":{"m1":{"inputTokens":100,"outputTokens":10,"costUSD":0.5}}},"sessionId":"s1","timestamp":"2026-11-03T12:00:03Z"}
{"type":"user","uuid":"e5","parentUuid":"e4","sessionId":"s1","timestamp":"2026-11-04T12:00:00Z","message":{"role":"user","content":[{"type":"text","text":"go on"}]}}
{"type":"user","isMeta":true,"uuid":"e6","parentUuid":"e5","sessionId":"s1","timestamp":"2026-11-04T12:00:00Z","message":{"role":"user","content":[{"type":"text","text":"for the model only"}]}}
{"type":"assistant","uuid":"e7","parentUuid":"e6","sessionId":"s1","timestamp":"2026-11-04T12:00:01Z","message":{"role":"assistant","model":"m1","content":[{"type":"tool_use","id":"u3","name":"Read","input":{}}]}}
{"type":"cost-state","cost":{"totalCostUSD":0.75,"modelUsage":{"m1":{"inputTokens":130,"cacheReadInputTokens":20,"outputTokens":30,"costUSD":0.75}}},"sessionId":"s1","timestamp":"2026-11-04T12:00:03Z"}
`

// busy writes busyLog as a session and returns its path.
func busy(t *testing.T, home, id string) string {
	t.Helper()
	folder, err := store.ClaimProject(home, "/work/app")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, id+".jsonl")
	if err := os.WriteFile(path, []byte(busyLog), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMeasure checks that each day gets the difference of the session's growing totals, and
// that messages copied by a fork count once.
//
// Proves X-134.
func TestMeasure(t *testing.T) {
	home := t.TempDir()
	path := busy(t, home, "s1")
	folder := filepath.Dir(path)
	for name, text := range map[string]string{"empty.jsonl": "", "odd.jsonl": "{\"type\":\"cost-state\",\"cost\":7}\n{}\n\x00\n{\"type\":\"user\"}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	measure := func(o StatsOptions) *Stats {
		t.Helper()
		s, err := Measure(t.Context(), home, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := &Stats{
		Sessions: 1,
		Sum:      Work{Prompts: 2, Input: 150, Output: 30, Cached: 20, CostUSD: 0.75},
		Days:     []Day{{"2026-11-04", Work{Prompts: 1, Input: 50, Output: 20, Cached: 20, CostUSD: 0.25}}, {"2026-11-03", Work{Prompts: 1, Input: 100, Output: 10, CostUSD: 0.5}}},
		Models:   []ModelUse{{"m1", Work{Input: 150, Output: 30, Cached: 20, CostUSD: 0.75}}},
		Tools:    []Use{{"Read", 2}, {"Edit", 1}},
		Files:    []Use{{"/work/app/a.go", 1}},
	}
	if diff := cmp.Diff(want, measure(StatsOptions{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Stats{}, measure(StatsOptions{Dir: "/elsewhere"})); diff != "" {
		t.Error(diff)
	}
	last := measure(StatsOptions{Since: start.Add(12 * time.Hour)})
	if diff := cmp.Diff(want.Days[:1], last.Days); diff != "" {
		t.Error(diff)
	}

	if _, err := store.Fork(path, store.Options{Home: home, Dir: "/work/app", Session: "s2", NoSync: true}, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, measure(StatsOptions{})); diff != "" {
		t.Errorf("with a fork: %s", diff)
	}
}

// TestMeasureStops checks that Measure returns partial counts and the number of remaining
// sessions when its time is up.
func TestMeasureStops(t *testing.T) {
	home := t.TempDir()
	for i := range 20 {
		busy(t, home, fmt.Sprint("s", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := Measure(ctx, home, StatsOptions{})
	if err != nil || s.Sessions != 0 || s.Left != 20 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestDetail checks the counts of failures, hours, projects, and the calls of one directory.
//
// Proves X-134.
func TestDetail(t *testing.T) {
	home := t.TempDir()
	log := strings.ReplaceAll(busyLog, `"sessionId":"s1"`, `"sessionId":"s1","cwd":"/work/app"`)
	log = strings.Replace(log, `"tool_use_id":"u2","content":"ok"`, `"tool_use_id":"u2","is_error":true,"content":"no"`, 1)
	if err := os.WriteFile(busy(t, home, "s1"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	want := &Detail{
		Failed:   []Use{{"Read", 1}},
		Projects: []ProjectUse{{"/work/app", Work{Prompts: 2, Input: 150, Output: 30, Cached: 20, CostUSD: 0.75}}},
		Calls:    []CallUse{{Call{"Read", "{}"}, 2}, {Call{"Edit", "{}"}, 1}},
	}
	want.Hours[13] = 2
	zone := time.FixedZone("", 3600)
	s, err := Measure(t.Context(), home, StatsOptions{Detail: true, Calls: "/work/app", Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.Detail); diff != "" {
		t.Error(diff)
	}
	if s, err = Measure(t.Context(), home, StatsOptions{Detail: true, Calls: "/work"}); err != nil || len(s.Detail.Calls) > 0 {
		t.Errorf("%+v, %v", s.Detail, err)
	}
}

// TestDetailBounds checks that long calls, and calls over the limit, are omitted.
func TestDetailBounds(t *testing.T) {
	c := newCloseCount()
	c.called(Call{"Do", strings.Repeat("x", maxInputSize+1)}, 1)
	for i := range maxCalls + 10 {
		c.called(Call{"Do", fmt.Sprint(i)}, 1)
	}
	c.called(Call{"Do", "0"}, 1)
	if len(c.calls) != maxCalls || c.calls[Call{"Do", "0"}] != 2 {
		t.Errorf("%d calls", len(c.calls))
	}
}
