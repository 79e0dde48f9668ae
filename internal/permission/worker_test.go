package permission

import (
	"slices"
	"testing"

	"adze/internal/permission/rule"
	"adze/internal/platform/scope"
)

// Proves AGENT-10.
func TestWorkerMode(t *testing.T) {
	order := []Mode{Plan, DontAsk, Default, AcceptEdits, Auto, Bypass}
	for i, lead := range order {
		for j, own := range append(order, "") {
			g := NewGate(GateConfig{Config: Config{Mode: lead}, MayBypass: true})
			want := lead
			if own != "" && j < i {
				want = own
			}
			w := g.Worker(WorkerConfig{Mode: own})
			if w.Mode() != want {
				t.Errorf("%s for %q: %s, want %s", lead, own, w.Mode(), want)
			}
			if err := g.SetMode(Plan); err != nil {
				t.Fatal(err)
			}
			if w.Mode() != Plan {
				t.Errorf("%s for %q: the lead plans, and the agent is in %s", lead, own, w.Mode())
			}
			if err := g.SetMode(lead); err != nil || w.Mode() != want {
				t.Errorf("%s for %q: back in %s, want %s (%v)", lead, own, w.Mode(), want, err)
			}
		}
	}
}

// Proves AGENT-10.
func TestWorkerRules(t *testing.T) {
	parse := func(text string, b Behavior) rule.Rule {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Behavior, r.Scope = b, scope.Session
		return r
	}
	lead := NewGate(GateConfig{Config: Config{Dir: "/w", Rules: []rule.Rule{parse("Bash(make)", Allow)}}})
	one, two := lead.Worker(WorkerConfig{}), lead.Worker(WorkerConfig{})
	has := func(g *Gate, r rule.Rule) bool {
		return slices.ContainsFunc(g.Policy().Config().Rules, func(x rule.Rule) bool { return x.String() == r.String() && x.Behavior == r.Behavior })
	}
	granted, denied := parse("Bash(rm x)", Allow), parse("WebFetch", Deny)
	one.AddRule(granted)
	if !has(one, parse("Bash(make)", Allow)) || !has(one, granted) {
		t.Error("an agent lacks a rule")
	}
	if has(two, granted) || has(lead, granted) {
		t.Error("what one agent was granted, another one has")
	}
	lead.AddRule(denied)
	lead.AddRule(granted)
	if _, no := two.Policy().DeniesTool("WebFetch"); !no {
		t.Error("an agent may do what its lead may no longer")
	}
	if has(two, granted) {
		t.Error("an agent got what its lead was granted later")
	}
}
