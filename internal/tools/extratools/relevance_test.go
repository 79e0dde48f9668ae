package extratools

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/tool"
)

// A served is a tool as a server lists it.
type served struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// servers returns the tools of public servers by server, as listed in 2026.
func servers(t testing.TB) map[string][]served {
	t.Helper()
	files, err := filepath.Glob("testdata/servers/*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]served)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []served
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = list
	}
	return all
}

// nothing is the handler of a test tool.
func nothing(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) {
	return tool.Text("done"), nil
}

// public returns the tools of all public servers.
func public(t testing.TB) []tool.Tool {
	t.Helper()
	var all []tool.Tool
	for server, list := range servers(t) {
		for _, s := range list {
			all = append(all, tool.New(tool.Def{
				Name: "mcp__" + server + "__" + s.Name, Doc: s.Description, Schema: s.Schema,
				Traits: tool.Traits{Origin: "mcp:" + server},
			}, nothing))
		}
	}
	return all
}

// poolOf returns a pool in which all tools except the core ones are deferred.
func poolOf(t testing.TB, core, deferred []tool.Tool, denied func(string) bool) *tool.Pool {
	t.Helper()
	r := tool.NewRegistry(core...)
	r.Deferred = func(_ string, traits *tool.Traits) bool { return !traits.Core }
	pool, problems := r.Assemble(deferred, denied)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return pool
}

// A request is a query with its correct tools.
type request struct {
	query string
	want  []string
}

func requests(t testing.TB, file string) []request {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []request
	for lines := bufio.NewScanner(f); lines.Scan(); {
		query, want, ok := strings.Cut(lines.Text(), " => ")
		if ok {
			all = append(all, request{query, strings.Fields(want)})
		}
	}
	return all
}

// A tally counts requests, and how often the correct tool is first or among the first five.
type tally struct{ all, first, five int }

func (c tally) String() string {
	share := func(n int) float64 { return 100 * float64(n) / float64(c.all) }
	return fmt.Sprintf("%3d requests: the right tool is first for %.1f %%, in the first five for %.1f %%", c.all, share(c.first), share(c.five))
}

// enough reports whether the targets are met: first in 80 %, among the first five in 95 %.
func (c tally) enough() bool { return 100*c.first >= 80*c.all && 100*c.five >= 95*c.all }

// TestRelevance checks the targets. Half of the requests were used to develop the ranking, the
// others are only counted.
func TestRelevance(t *testing.T) {
	pool := poolOf(t, nil, public(t), nil)
	f := NewFinder(Config{Pool: func() *tool.Pool { return pool }})
	var sum tally
	for _, file := range []string{"requests.txt", "heldout.txt"} {
		var c tally
		for _, r := range requests(t, file) {
			for _, name := range r.want {
				if _, _, ok := pool.Lookup(name); !ok {
					t.Fatalf("%q wants %s, which no server has", r.query, name)
				}
			}
			a := &answer{pool: pool}
			f.search(a, r.query, 5)
			at := slices.IndexFunc(a.matches(), func(name string) bool { return slices.Contains(r.want, name) })
			c.all++
			if at == 0 {
				c.first++
			} else if file == "requests.txt" {
				t.Logf("%q: place %d of %v", r.query, at+1, a.matches())
			}
			if at >= 0 {
				c.five++
			}
		}
		t.Logf("%s, over %d tools of %d servers: %s", file, len(pool.Deferred()), len(servers(t)), c)
		sum = tally{sum.all + c.all, sum.first + c.first, sum.five + c.five}
	}
	t.Logf("together: %s", sum)
	if !sum.enough() {
		t.Error("too few")
	}
}
