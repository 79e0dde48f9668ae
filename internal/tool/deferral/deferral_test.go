package deferral

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool"
)

func named(name string, size int, t tool.Traits) tool.Tool {
	d := tool.Def{Name: name, Doc: strings.Repeat("x", size), Schema: json.RawMessage(`{"type":"object"}`), Traits: t}
	return tool.New(d, func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil })
}

// A conversation holds the settings, model and warnings of a test.
type conversation struct {
	Settings
	Model
	warned []string
	begun  int
	asked  int
	count  func(string) (int, error)
}

func (c *conversation) policy() *Policy {
	cfg := Config{
		Settings: func() Settings { return c.Settings },
		Model:    func() Model { return c.Model },
		Warn:     func(text string) { c.warned = append(c.warned, text) },
		Begun:    func() { c.begun++ },
	}
	if c.count != nil {
		cfg.Count = func(_ context.Context, text string) (int, error) { c.asked++; return c.count(text) }
	}
	return New(cfg, false)
}

// Proves DEF-05, DEF-07.
func TestModes(t *testing.T) {
	few, many := []tool.Tool{named("a", 10, tool.Traits{})}, []tool.Tool{named("b", 1_000_000, tool.Traits{})}
	for _, tt := range []struct {
		mode      string
		few, many bool
		warning   string
	}{
		{"", true, true, ""},
		{"true", true, true, ""},
		{"TRUE", true, true, ""},
		{"1", true, true, ""},
		{"tst", true, true, ""},
		{"false", false, false, ""},
		{"off", false, false, ""},
		{"standard", false, false, ""},
		{"auto", false, true, ""},
		{"tst-auto", false, true, ""},
		{"auto:10", false, true, ""},
		{"auto:0", true, true, ""},
		{"auto:100", false, false, ""},
		{"auto:abc", false, true, `tools.deferral: "auto:abc" needs a number from 0 to 100 after auto:; using auto:10`},
		{"auto:", false, true, `tools.deferral: "auto:" needs a number from 0 to 100 after auto:; using auto:10`},
		{"auto:-1", false, true, `tools.deferral: "auto:-1" needs a number from 0 to 100 after auto:; using auto:10`},
		{"auto:101", false, true, `tools.deferral: "auto:101" needs a number from 0 to 100 after auto:; using auto:10`},
		{"maybe", true, true, `tools.deferral: "maybe" is not true, false, auto or auto:N; using true`},
	} {
		c := conversation{Settings: Settings{Mode: tt.mode}, Model: Model{ID: "m", Window: 200_000}}
		p := c.policy()
		if got := p.Defers(few); got != tt.few {
			t.Errorf("%q: few tools are deferred: %v", tt.mode, got)
		}
		if got := p.Defers(many); got != tt.many {
			t.Errorf("%q: many tools are deferred: %v", tt.mode, got)
		}
		if got := strings.Join(c.warned, "\n"); got != tt.warning {
			t.Errorf("%q: warnings %q", tt.mode, got)
		}
		c.Never = true
		if p.Defers(many) {
			t.Errorf("%q: tools are deferred though that is forbidden", tt.mode)
		}
		c.Never, c.NoSearch = false, true
		if p.Defers(many) {
			t.Errorf("%q: tools are deferred for a model that cannot look them up", tt.mode)
		}
		if c.NoSearch = false; p.Defers(many) != tt.many {
			t.Errorf("%q: back at the first model it is otherwise", tt.mode)
		}
	}
}

// Proves DEF-06.
func TestThreshold(t *testing.T) {
	const window, limit = 10_000, 1000 // tokens, at ten percent
	sized := func(tokens int) []tool.Tool {
		chars := tokens*5/2 - len("x") - len(`{"type":"object"}`)
		return []tool.Tool{named("x", chars, tool.Traits{})}
	}
	unable := func(string) (int, error) { return 0, errors.New("no such endpoint") }
	exactly := func(n int) func(string) (int, error) { return func(string) (int, error) { return n, nil } }
	for _, tt := range []struct {
		name   string
		count  func(string) (int, error)
		window int
		tokens int // estimated count
		want   bool
		asked  int
	}{
		{"just below, estimated", nil, window, limit, false, 0},
		{"just above, estimated", nil, window, limit + 2, true, 0},
		{"just below, endpoint fails", unable, window, limit, false, 1},
		{"just above, endpoint fails", unable, window, limit + 2, true, 1},
		{"just below, counted", exactly(limit), window, limit * 2, false, 1},
		{"just above, counted", exactly(limit + 1), window, limit / 2, true, 1},
		{"far below", exactly(1 << 30), window, limit / 5, false, 0},
		{"far above", exactly(0), window, limit * 5, true, 0},
		{"unknown window, below", nil, 0, 12_800, false, 0},
		{"unknown window, above", nil, 0, 12_802, true, 0},
	} {
		c := conversation{Settings: Settings{Mode: "auto"}, Model: Model{ID: "m", Window: tt.window}, count: tt.count}
		p, tools := c.policy(), sized(tt.tokens)
		for range 3 {
			if got := p.Defers(tools); got != tt.want {
				t.Errorf("%s: deferred %v", tt.name, got)
			}
		}
		again := sized(tt.tokens) // another slice with the same tools
		if p.Defers(again) != tt.want || c.asked != tt.asked {
			t.Errorf("%s: %d requests to the provider", tt.name, c.asked)
		}
		c.Model.ID = "other"
		p.Defers(tools)
		if more := tt.asked; !tt.want && c.asked != tt.asked+more {
			t.Errorf("%s: with another model %d requests in all", tt.name, c.asked)
		}
		if tt.want && (!p.Defers(nil) || c.begun != 1) {
			t.Errorf("%s: it is off again after a server left, or has begun %d times", tt.name, c.begun)
		}
	}
	c := conversation{Settings: Settings{Mode: "auto"}, Model: Model{ID: "m", Window: window}}
	if p := New(c.policy().cfg, true); !p.Defers(nil) {
		t.Error("a resumed session has switched off")
	}
}

// Proves DEF-01.
func TestDeferred(t *testing.T) {
	c := conversation{}
	p := c.policy()
	for _, tt := range []struct {
		name   string
		traits tool.Traits
		want   bool
	}{
		{"Read", tool.Traits{Core: true}, false},
		{"Snip", tool.Traits{}, true},
		{"StructuredOutput", tool.Traits{Core: true}, false},
		{"mcp__db__q", tool.Traits{Origin: "mcp:db"}, true},
		{"mcp__db__q", tool.Traits{Origin: "mcp:db", Core: true}, false},
	} {
		if got := p.Deferred(tt.name, &tt.traits); got != tt.want {
			t.Errorf("%s %+v: deferred %v", tt.name, tt.traits, got)
		}
	}
	counts := map[string]int{}
	r := tool.NewRegistry(named("Read", 1, tool.Traits{Core: true}), named("Snip", 1, tool.Traits{}))
	r.Deferred = func(name string, t *tool.Traits) bool { counts[name]++; return p.Deferred(name, t) }
	r.Assemble(nil, nil)
	if diff := cmp.Diff(map[string]int{"Read": 1, "Snip": 1}, counts); diff != "" {
		t.Errorf("evaluations of one assembly (-want +got):\n%s", diff)
	}
}

// Proves PRE-04.
func TestDiscovered(t *testing.T) {
	var d Discovered
	var all []string
	for i := range 501 {
		all = append(all, fmt.Sprint("tool", i))
	}
	d.Add(all[:500]...)
	d.Add(all[7], all[7])
	if got := d.names; len(got) != 500 || !d.Has("tool7") {
		t.Fatalf("%d names", len(got))
	}
	d.Add(all[500])
	if diff := cmp.Diff(all[101:], d.names); diff != "" || d.Has("tool100") || !d.Has("tool101") {
		t.Errorf("the 400 newest (-want +got):\n%s", diff)
	}
	if names, changed := d.Changes(); !changed || len(names) != 400 {
		t.Errorf("%d names, changed %v", len(names), changed)
	}
	if _, changed := d.Changes(); changed {
		t.Error("it has changed though nothing was added")
	}
	var resumed Discovered
	resumed.Restore(d.names)
	if _, changed := resumed.Changes(); changed || !resumed.Has("tool500") {
		t.Error("a resumed set differs")
	}
}

// TestLate checks that a late tool is deferred if the conversation has started without it.
//
// Proves SKILL-07.
func TestLate(t *testing.T) {
	unlisted := map[string]bool{"Skill": true, "Read": true}
	p := New(Config{Unlisted: func(name string) bool { return unlisted[name] }}, false)
	if !p.Deferred("Skill", &tool.Traits{Core: true, Late: true}) || p.Deferred("Read", &tool.Traits{Core: true}) {
		t.Error("a late tool is listed, or another is deferred")
	}
	delete(unlisted, "Skill")
	if p.Deferred("Skill", &tool.Traits{Core: true, Late: true}) {
		t.Error("a tool that is listed is deferred")
	}
}
