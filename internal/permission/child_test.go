package permission

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

func child(t testing.TB, g *Gate, c Child) *Gate {
	t.Helper()
	w, err := g.Child(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Proves AGENT-10.
func TestChildMode(t *testing.T) {
	order := []Mode{Plan, DontAsk, Default, AcceptEdits, Auto, Bypass}
	for i, lead := range order {
		for j, own := range append(order, "") {
			g := NewGate(GateConfig{Config: Config{Mode: lead}, MayBypass: true})
			want := lead
			if own != "" && j < i {
				want = own
			}
			w := child(t, g, Child{Mode: own})
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
func TestChildRules(t *testing.T) {
	parse := func(text string, b Behavior) rule.Rule {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Behavior, r.Scope = b, scope.Session
		return r
	}
	lead := NewGate(GateConfig{Config: Config{Dir: "/w", Rules: []rule.Rule{parse("Bash(make)", Allow)}}})
	one, two := child(t, lead, Child{}), child(t, lead, Child{})
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
	if _, no := two.Standing().DeniesTool("WebFetch"); !no {
		t.Error("an agent is offered what its lead may no longer use")
	}
	if _, no := two.Policy().DeniesTool("WebFetch"); !no {
		t.Error("an agent may do what its lead may no longer")
	}
	if has(two, granted) {
		t.Error("an agent got what its lead was granted later")
	}
}

// TestQuestionsThatWait checks that a permanent decision about one agent's call applies to all
// agents, including pending questions, but a session decision or a hook's ask does not.
//
// Proves AGENT-10, PERM-17.
func TestQuestionsThatWait(t *testing.T) {
	rules := func(d scope.Scope) []Update {
		return []Update{{Type: AddRules, Behavior: Allow, Destination: d, Rules: []RuleValue{{Tool: "Bash", Content: "make"}}}}
	}
	tests := []struct {
		name      string
		decide    func(lead, one *Gate)
		hooked    bool
		withdrawn bool
		want      string
	}{
		{"for good", func(_, one *Gate) { one.Apply(t.Context(), rules(scope.Local)) }, false, true, "allow"},
		{"for the session", func(_, one *Gate) { one.Apply(t.Context(), rules(scope.Session)) }, false, false, "deny"},
		{"by the lead", func(lead, _ *Gate) { lead.Apply(t.Context(), rules(scope.Project)) }, false, true, "allow"},
		{"by a mode", func(lead, _ *Gate) { lead.SetMode(Bypass) }, false, true, "allow"},
		{"no", func(lead, _ *Gate) {
			lead.Apply(t.Context(), []Update{{Type: AddRules, Behavior: Deny, Destination: scope.Session, Rules: []RuleValue{{Tool: "Bash"}}}})
		}, false, true, "deny"},
		{"a hook that wants it asked", func(_, one *Gate) { one.Apply(t.Context(), rules(scope.Local)) }, true, false, "deny"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lead := NewGate(GateConfig{Config: Config{Dir: "/w"}, MayBypass: true})
				lead.SetSave(func(context.Context, Update) error { return nil })
				one, two := child(t, lead, Child{}), child(t, child(t, lead, Child{}), Child{})
				one.SetSave(lead.save)
				user, withdrawn := make(chan struct{}), false
				two.SetAsk(func(ctx context.Context, _ Question) (Answer, error) {
					select {
					case <-user:
						return Answer{Behavior: Deny}, nil
					case <-ctx.Done():
						withdrawn = true
						return Answer{}, ctx.Err()
					}
				})
				if tt.hooked {
					two.SetHooks(func(context.Context, *tool.Use, []Update) (Answer, bool, error) {
						return Answer{Behavior: Ask}, false, nil
					})
				}
				u := newUse(t, fake{name: "Bash"}, call{Access_: []tool.Access{{Verb: tool.Execute, Target: "make"}}})
				done := make(chan struct{})
				go func() {
					defer close(done)
					if err := two.Before(t.Context(), u); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				tt.decide(lead, one)
				synctest.Wait()
				close(user)
				<-done
				if withdrawn != tt.withdrawn || (u.Verdict.Decision == tool.Allow) != (tt.want == "allow") {
					t.Errorf("withdrawn: %v, %+v", withdrawn, u.Verdict)
				}
			})
		})
	}
}

// TestChildLosesRules checks that a rule removed from the settings stops applying to every
// agent.
//
// Proves AGENT-10.
func TestChildLosesRules(t *testing.T) {
	r, err := rule.Parse("Bash(make)")
	if err != nil {
		t.Fatal(err)
	}
	r.Behavior, r.Scope = Allow, scope.User
	lead := NewGate(GateConfig{Config: Config{Dir: "/w"}})
	agent := child(t, lead, Child{})
	for _, rules := range [][]rule.Rule{{r}, nil} {
		lead.SetRules(rules, nil)
		if got := agent.Policy().Config().Rules; len(got) != len(rules) {
			t.Errorf("with %v, the agent has %v", rules, got)
		}
	}
}
