package permission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/permission/approval"
	"adze/internal/permission/tally"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// A bench is a fake judge that returns fixed answers and counts calls.
type bench struct {
	verdict Judgement
	class   string
	err     error
	judged  []string // commands judged
	classed []string
	during  func() // called while it decides
}

func (b *bench) Judge(_ context.Context, q Question) (Judgement, error) {
	b.judged = append(b.judged, q.Command)
	if b.during != nil {
		b.during()
	}
	return b.verdict, b.err
}

func (b *bench) Covers(_ context.Context, q Question, classes []string) (string, error) {
	b.classed = append(b.classed, q.Command)
	return b.class, b.err
}

var (
	lenient = Judgement{Reason: "it is harmless"}
	strict  = Judgement{Block: true, Reason: "it deletes work"}
)

// Proves PERM-24.
func TestJudge(t *testing.T) {
	w := newWorld(t)
	yes, asked := answers(Answer{Behavior: Allow})
	broken := errors.New("no answer")
	for _, tt := range []struct {
		name   string
		mode   Mode
		rules  []string
		bench  bench
		ask    Asker
		tool   string
		in     call
		want   tool.Decision
		judged int
		asked  int
		reason string
	}{
		{"allowed", Auto, nil, bench{verdict: lenient}, nil, "Bash", runs("make"), tool.Allow, 1, 0, "auto mode allows it: it is harmless"},
		{"blocked", Auto, nil, bench{verdict: strict}, yes, "Bash", runs("make"), tool.Deny, 1, 0, "auto mode denies it: it deletes work"},
		{"failed, with a user", Auto, nil, bench{verdict: lenient, err: broken}, yes, "Bash", runs("make"), tool.Allow, 1, 1, "user allowed"},
		{"failed, headless", Auto, nil, bench{verdict: lenient, err: broken}, nil, "Bash", runs("make"), tool.Deny, 1, 0, "auto mode could not decide: no answer; no user is available"},
		{"reading needs none", Auto, nil, bench{verdict: strict}, nil, "Bash", runs("ls"), tool.Allow, 0, 0, ""},
		{"nor do edits inside", Auto, nil, bench{verdict: strict}, nil, "Edit", writesTo("main.go"), tool.Allow, 0, 0, ""},
		{"nor what narrow rules allow", Auto, []string{"allow Bash(make)"}, bench{verdict: strict}, nil, "Bash", runs("make"), tool.Allow, 0, 0, ""},
		{"broad rules are suspended", Auto, []string{"allow Bash"}, bench{verdict: strict}, nil, "Bash", runs("make"), tool.Deny, 1, 0, ""},
		{"deny rules come first", Auto, []string{"deny Bash(make)"}, bench{verdict: lenient}, yes, "Bash", runs("make"), tool.Deny, 0, 0, ""},
		{"ask rules are for the user", Auto, []string{"ask Bash(make)"}, bench{verdict: lenient}, nil, "Bash", runs("make"), tool.Deny, 0, 0, ""},
		{"so are safety checks", Auto, nil, bench{verdict: lenient}, nil, "Edit", writesTo(".git/config"), tool.Deny, 0, 0, ""},
		{"and what needs the person", Auto, nil, bench{verdict: lenient}, nil, "Ask", call{Person: true}, tool.Deny, 0, 0, ""},
		{"other modes have none", Default, nil, bench{verdict: lenient}, nil, "Bash", runs("make"), tool.Deny, 0, 0, ""},
		{"planning after auto has one", Plan, nil, bench{verdict: lenient}, nil, "Read", reads("../outside"), tool.Allow, 1, 0, ""},
		{"which plans as planning does", Plan, nil, bench{verdict: lenient}, nil, "Bash", runs("make"), tool.Deny, 0, 0, "plan mode"},
		{"nor has dontAsk", DontAsk, nil, bench{verdict: lenient}, yes, "Bash", runs("make"), tool.Deny, 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			*asked = 0
			g := asking(GateConfig{Config: w.config(tt.mode, tt.rules...), DefaultMode: Auto}, tt.ask)
			g.SetJudge(&tt.bench)
			v := pass(t, g, tt.tool, tt.in)
			if v.Decision != tt.want || len(tt.bench.judged) != tt.judged || *asked != tt.asked || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%+v, judged %d times, asked %d times", v, len(tt.bench.judged), *asked)
			}
		})
	}
}

// TestJudgeDoubt checks that the prompt explains why the judge did not answer.
//
// Proves PERM-24.
func TestJudgeDoubt(t *testing.T) {
	w := newWorld(t)
	var seen Question
	g := asking(GateConfig{Config: w.config(Auto)}, func(_ context.Context, q Question) (Answer, error) {
		seen = q
		return Answer{Behavior: Deny}, nil
	})
	g.SetJudge(&bench{err: errors.New("the model did not answer within 15s")})
	pass(t, g, "Bash", runs("make"))
	said := ""
	alone := NewGate(GateConfig{Config: w.config(Auto), Say: func(text string) { said = text }})
	alone.SetJudge(&bench{err: errors.New("overloaded")})
	if pass(t, alone, "Bash", runs("make")); said != "Bash call not judged: auto mode could not decide: overloaded" {
		t.Error(said)
	}
	if seen.Reason.Note != "auto mode could not decide: the model did not answer within 15s" || !strings.HasSuffix(seen.Reason.String(), seen.Reason.Note) {
		t.Error(seen.Reason)
	}
}

// TestBrokenHookBeforeJudge checks that after a hook fails the question goes to the user, never
// to a judge.
func TestBrokenHookBeforeJudge(t *testing.T) {
	w := newWorld(t)
	for name, hook := range map[string]HookFunc{
		"no verdict": func(context.Context, *tool.Use, []Update) (Answer, bool, error) {
			return Answer{Behavior: Ask}, false, nil
		},
		"error": func(context.Context, *tool.Use, []Update) (Answer, bool, error) {
			return Answer{}, false, errors.New("broken")
		},
	} {
		b := &bench{verdict: lenient}
		g := NewGate(GateConfig{Config: w.config(Auto)})
		g.SetJudge(b)
		g.SetHooks(hook)
		if v := pass(t, g, "Bash", runs("make")); v.Decision != tool.Deny || len(b.judged) > 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestJudgeIsLate checks that policy changes made while the judge decides apply.
func TestJudgeIsLate(t *testing.T) {
	w := newWorld(t)
	yes, asked := answers(Answer{Behavior: Allow})
	for _, tt := range []struct {
		name  string
		do    func(g *Gate)
		want  tool.Decision
		asked int
	}{
		{"nothing", func(*Gate) {}, tool.Allow, 0},
		{"a deny rule", func(g *Gate) { g.AddRule(parseRules(scope.Session, "deny Bash(make)")[0]) }, tool.Deny, 0},
		{"an ask rule", func(g *Gate) { g.AddRule(parseRules(scope.Session, "ask Bash(make)")[0]) }, tool.Allow, 1},
		{"another mode", func(g *Gate) { g.SetMode(Default) }, tool.Allow, 1},
		{"plan mode", func(g *Gate) { g.SetMode(Plan) }, tool.Deny, 0},
	} {
		*asked = 0
		b := &bench{verdict: lenient}
		g := asking(GateConfig{Config: w.config(Auto)}, yes)
		g.SetJudge(b)
		b.during = func() { tt.do(g) }
		if v := pass(t, g, "Bash", runs("make")); v.Decision != tt.want || *asked != tt.asked {
			t.Errorf("%s: %+v, asked %d times", tt.name, v, *asked)
		}
	}
}

// Proves PERM-25.
func TestBreaker(t *testing.T) {
	w := newWorld(t)
	yes, asked := answers(Answer{Behavior: Allow})
	b := &bench{verdict: strict}
	g := asking(GateConfig{Config: w.config(Auto)}, yes)
	g.SetJudge(b)
	n := 0
	try := func(want tool.Decision, questions int) {
		t.Helper()
		n++
		*asked = 0
		if v := pass(t, g, "Bash", runs(fmt.Sprintf("make %d", n))); v.Decision != want || *asked != questions {
			t.Fatalf("call %d: %+v, asked %d times", n, v, *asked)
		}
	}
	for range tally.MaxBlockedRow {
		try(tool.Deny, 0)
	}
	try(tool.Allow, 1) // the user is prompted and allows it: the judge is trusted again
	for range tally.MaxBlockedRow - 1 {
		try(tool.Deny, 0)
	}
	b.verdict = lenient
	try(tool.Allow, 0)
	b.verdict = strict
	for i := 5; i < tally.MaxBlocked; i++ { // up to the total limit
		if i%2 == 0 {
			b.verdict = lenient
			try(tool.Allow, 0)
			b.verdict = strict
		}
		try(tool.Deny, 0)
	}
	for range 2 {
		try(tool.Allow, 1)
	}
	if err := g.SetMode(Auto); err != nil { // the user chooses the mode again
		t.Fatal(err)
	}
	try(tool.Deny, 0)
	if allowed, refused := g.Judged(); allowed+refused != len(b.judged) || refused != tally.MaxBlocked+1 {
		t.Errorf("allowed %d, refused %d of %d", allowed, refused, len(b.judged))
	}

	// Without a user, the turn ends.
	alone := NewGate(GateConfig{Config: w.config(Auto)})
	alone.SetJudge(b)
	for range tally.MaxBlockedRow {
		if v := pass(t, alone, "Bash", runs("make")); v.Decision != tool.Deny || v.Stop != "" {
			t.Fatalf("%+v", v)
		}
	}
	if v := pass(t, alone, "Bash", runs("make other")); v.Decision != tool.Deny || v.Stop != "auto mode has denied 3 calls in a row; no user is available to approve it" {
		t.Errorf("%+v", v)
	}
}

// Proves PLAN-06, SHAST-08, X-103.
func TestPlanClasses(t *testing.T) {
	w := newWorld(t)
	yes, asked := answers(Answer{Behavior: Allow})
	const class = "start the local database"
	for _, tt := range []struct {
		name    string
		bench   bench
		rules   []string
		tool    string
		in      call
		want    tool.Decision
		classed int
		asked   int
	}{
		{"covered", bench{class: class}, nil, "Bash", runs("docker compose up -d db"), tool.Allow, 1, 0},
		{"not covered", bench{}, nil, "Bash", runs("rm -rf x"), tool.Deny, 1, 0},
		{"covered by no class of the plan", bench{class: "anything"}, nil, "Bash", runs("rm -rf x"), tool.Deny, 1, 0},
		{"failed", bench{class: class, err: errors.New("no answer")}, nil, "Bash", runs("make"), tool.Deny, 1, 0},
		{"deny rules come first", bench{class: class}, []string{"deny Bash(docker:*)"}, "Bash", runs("docker ps"), tool.Deny, 0, 0},
		{"so do ask rules", bench{class: class}, []string{"ask Bash(docker:*)"}, "Bash", runs("docker up"), tool.Deny, 0, 0},
		{"and safety checks", bench{class: class}, nil, "Bash", runs("touch .git/config"), tool.Deny, 0, 0},
		{"other tools are asked about", bench{class: class}, nil, "Edit", writesTo("../x"), tool.Deny, 0, 0},
	} {
		g := planGate(t, w, Default, func(c *GateConfig) { c.Rules = parseRules(scope.User, tt.rules...) })
		g.SetJudge(&tt.bench)
		if _, err := g.PlanMode().Enter(); err != nil {
			t.Fatal(err)
		}
		if v := pass(t, g, "Bash", runs("docker compose up -d db")); v.Decision == tool.Allow || len(tt.bench.classed) > 0 {
			t.Errorf("%s: before the plan is approved: %+v", tt.name, v)
		}
		if _, err := g.PlanMode().Leave("", []approval.Prompt{{Tool: "Bash", Prompt: "start the\n local database"}}); err != nil {
			t.Fatal(err)
		}
		g.denials = tally.Denials{}
		for range 2 {
			if v := pass(t, g, tt.tool, tt.in); v.Decision != tt.want || len(tt.bench.judged) > 0 {
				t.Errorf("%s: %+v", tt.name, v)
			}
			if tt.want == tool.Deny {
				break
			}
		}
		if len(tt.bench.classed) != tt.classed { // a match is cached for the session
			t.Errorf("%s: asked about %q", tt.name, tt.bench.classed)
		}
	}
	// A plan does not remove prompts the user would otherwise get.
	g := asking(GateConfig{Config: w.config(Default)}, yes)
	g.SetJudge(&bench{err: errors.New("no answer")})
	if _, err := g.PlanMode().Enter(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.PlanMode().Leave("", []approval.Prompt{{Tool: "Bash", Prompt: class}}); err != nil {
		t.Fatal(err)
	}
	if v := pass(t, g, "Bash", runs("make")); v.Decision != tool.Allow || *asked != 1 {
		t.Errorf("%+v, asked %d times", v, *asked)
	}
}

// TestJudgeNeverLiftsADeny checks that a judge's answer never overrides a rule's deny, and that
// calls only the user may allow are not allowed without one.
//
// Proves PERM-23, PERM-24.
func TestJudgeNeverLiftsADeny(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := w.config(rapid.SampledFrom([]Mode{Default, AcceptEdits, Plan, Auto, DontAsk, Bypass}).Draw(rt, "mode"), drawRules(rt, "rules", Allow, Ask, Deny)...)
		s := drawSample(rt)
		use := newUse(t, fake{name: s.tool}, s.in)
		p := Compile(c)
		before := Decide(p, factsOf(p, use))
		g := NewGate(GateConfig{Config: c, MayBypass: true})
		g.approved.Add("everything")
		g.SetJudge(&bench{
			class:   "everything",
			verdict: Judgement{Block: rapid.Bool().Draw(rt, "block"), Reason: rapid.String().Draw(rt, "reason")},
		})
		if err := g.Before(t.Context(), use); err != nil {
			rt.Fatal(err)
		}
		got := use.Verdict.Decision
		if (before.Behavior == Deny || before.Behavior == Ask && (before.Firm || before.NeedsPerson)) && got == tool.Allow {
			rt.Fatalf("%s %+v: %s (%s) became %+v", s.tool, s.in, before.Behavior, before.Reason.String(), use.Verdict)
		}
		if before.Behavior == Allow && got != tool.Allow {
			rt.Fatalf("%s %+v: what is allowed became %+v", s.tool, s.in, use.Verdict)
		}
	})
}

func TestAutoRuledOut(t *testing.T) {
	w := newWorld(t)
	g := NewGate(GateConfig{Config: w.config(Default), NoAuto: true})
	if err := g.SetMode(Auto); !errors.Is(err, ErrAuto) || g.Mode() != Default {
		t.Errorf("%v, mode %s", err, g.Mode())
	}
	planned := NewGate(GateConfig{Config: w.config(Plan), NoAuto: true, DefaultMode: Auto})
	if m := planned.PlanMode().After(); m != Default {
		t.Errorf("after planning: %s", m)
	}
}
