package permission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/msg"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// asking returns a gate whose questions are answered by ask.
func asking(c GateConfig, ask Asker) *Gate {
	g := NewGate(c)
	g.SetAsk(ask)
	return g
}

func answers(a Answer) (Asker, *int) {
	n := new(int)
	return func(context.Context, Question) (Answer, error) { *n++; return a, nil }, n
}

// pass runs a call of the named tool through a gate.
func pass(t testing.TB, g *Gate, name string, in call) tool.Verdict {
	t.Helper()
	u := newUse(t, fake{name: name}, in)
	if err := g.Before(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	return u.Verdict
}

func TestGateAsks(t *testing.T) {
	w := newWorld(t)
	yes, _ := answers(Answer{Behavior: Allow})
	no, _ := answers(Answer{Behavior: Deny, Message: "use make instead"})
	neither, _ := answers(Answer{Behavior: "maybe"})
	broken := func(context.Context, Question) (Answer, error) { return Answer{Behavior: Allow}, errors.New("gone") }
	nobody, _ := answers(Answer{Behavior: Deny, By: Headless})
	tests := []struct {
		name     string
		ask      Asker
		mode     Mode
		rules    []string
		command  string
		want     tool.Decision
		rejected bool
		reason   string // substring of the reason
	}{
		{"read-only", nil, Default, nil, "ls", tool.Allow, false, "read-only"},
		{"nobody there", nil, Default, nil, "make", tool.Deny, false, "--allowed-tools 'Bash(make"},
		{"nobody behind it", nobody, Default, nil, "make", tool.Deny, false, "--allowed-tools 'Bash(make"},
		{"yes", yes, Default, nil, "make", tool.Allow, false, "user allowed"},
		{"no", no, Default, nil, "make", tool.Deny, true, "use make instead"},
		{"neither", neither, Default, nil, "make", tool.Deny, true, ""},
		{"broken", broken, Default, nil, "make", tool.Deny, false, "gone"},
		{"denied without asking", yes, Default, []string{"deny Bash(make)"}, "make", tool.Deny, false, "denies make"},
		{"dontAsk asks nothing", yes, DontAsk, nil, "make", tool.Deny, false, "dontAsk mode denies anything that would need a prompt"},
		{"safety check in bypass", yes, Bypass, nil, "touch .git/config", tool.Allow, false, "user allowed"},
		{"safety check in bypass, nobody there", nil, Bypass, nil, "touch .git/config", tool.Deny, false, "the user has to confirm it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := asking(GateConfig{Config: w.config(tt.mode, tt.rules...)}, tt.ask)
			v := pass(t, g, "Bash", runs(tt.command))
			if v.Decision != tt.want || v.Rejected != tt.rejected || !strings.Contains(v.Reason+v.Advice, tt.reason) {
				t.Errorf("%+v", v)
			}
		})
	}
	if err := NewGate(GateConfig{}).Before(t.Context(), &tool.Use{}); err == nil {
		t.Error("a use that was never bound passed")
	}
}

// TestAllowedAndStopped checks that the user may let the call run and end the turn after it,
// and that a question names the programs that would run.
//
// Proves PLAN-05.
func TestAllowedAndStopped(t *testing.T) {
	w := newWorld(t)
	var programs []string
	yes := func(_ context.Context, q Question) (Answer, error) {
		programs = q.Programs
		return Answer{Behavior: Allow, Interrupt: true}, nil
	}
	v := pass(t, asking(GateConfig{Config: w.config(Default)}, yes), "Bash", runs("make && $X"))
	if v.Decision != tool.Allow || v.Stop == "" || v.Rejected {
		t.Errorf("%+v", v)
	}
	if diff := cmp.Diff([]string{"make", "a program computed at run time"}, programs); diff != "" {
		t.Error(diff)
	}
}

// TestRefusalTellsTheModel checks that the model gets a readable reason covering all parts of a
// command, and advice, but never a mention of modes that allow everything (model-side 3.5).
//
// Proves PERM-02.
func TestRefusalTellsTheModel(t *testing.T) {
	w := newWorld(t)
	no, _ := answers(Answer{Behavior: Deny, Message: "write a test first", Interrupt: true})
	v := pass(t, asking(GateConfig{Config: w.config(Default)}, no), "Bash", runs("make"))
	if !v.Rejected || v.Reason != "write a test first" || v.Stop == "" || v.By != "" {
		t.Errorf("%+v", v)
	}
	yes, _ := answers(Answer{Behavior: Allow})
	const alone, together = goOn, tellUser
	tests := []struct {
		name   string
		ask    Asker
		mode   Mode
		rules  []string
		tool   string
		in     call
		reason string
		advice string
	}{
		{"rule, nobody there", nil, Default, []string{"deny Bash(make)"}, "Bash", runs("make"),
			`rule "Bash(make)" from the user settings denies make`, alone},
		{"rule", yes, Default, []string{"deny Bash(make)"}, "Bash", runs("make"),
			`rule "Bash(make)" from the user settings denies make`, together},
		{"all parts", nil, Default, nil, "Bash", runs("go vet ./... && ls && go build -o x ."),
			"no rule allows `go vet ./...`, `go build -o x .`; no user is available to approve it",
			mayRead + " " + report + "; they can allow it with --allowed-tools 'Bash(go vet:*)' 'Bash(go build:*)'."},
		{"outside", nil, Default, nil, "Edit", writesTo("../x"),
			w.home + "/x is outside the working directories; no user is available to approve it", mayRead + " " + report + "; they can allow it with --allowed-tools 'Edit'."},
		{"mode", nil, Default, nil, "Edit", writesTo("x"),
			"adze asks before every file change in default mode; no user is available to approve it", mayRead + " " + report + "; they can allow it with --permission-mode acceptEdits."},
		{"safety", nil, Bypass, nil, "Edit", writesTo(".git/config"),
			"writing " + w.project + "/.git/config always needs confirmation: files in .git can make programs run code; the user has to confirm it in an interactive session", alone},
		{"plan", yes, Plan, nil, "Bash", runs("make"), "plan mode is on, and this Bash call may change something", present},
	}
	for _, tt := range tests {
		v := pass(t, asking(GateConfig{Config: w.config(tt.mode, tt.rules...)}, tt.ask), tt.tool, tt.in)
		if v.Decision != tool.Deny || v.Rejected || v.By != "" || v.Reason != tt.reason || v.Advice != tt.advice {
			t.Errorf("%s:\n%q\n%q", tt.name, v.Reason, v.Advice)
		}
		for _, word := range []string{"bypassPermissions", "safetyCheck", "other."} {
			if strings.Contains(v.Reason+v.Advice, word) {
				t.Errorf("%s: the reason contains %q", tt.name, word)
			}
		}
	}
}

// unfit is a call that would fail.
type unfit struct {
	*call
	looked *[]bool
}

func (u unfit) Foresee(look bool) error {
	*u.looked = append(*u.looked, look)
	return errors.New("old_string was not found")
}

// TestDoomedCallsAreNotAsked checks that a call that would fail (model-side 12) reaches neither
// the user nor a hook, that no denial is recorded, and that unreadable files are not inspected.
//
// Proves EXEC-03.
func TestDoomedCallsAreNotAsked(t *testing.T) {
	w := newWorld(t)
	var looked []bool
	yes, asked := answers(Answer{Behavior: Allow})
	try := func(g *Gate, path string) tool.Verdict {
		u := newUse(t, fake{name: "Edit"}, writesTo(path))
		u.Call = unfit{u.Call.(*call), &looked}
		if err := g.Before(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		return u.Verdict
	}
	for _, path := range []string{"x", "../x"} {
		g := asking(GateConfig{Config: w.config(Default)}, yes)
		g.SetHooks(func(context.Context, *tool.Use, []Update) (Answer, bool, error) {
			t.Error("a hook was asked")
			return Answer{}, false, nil
		})
		if v := try(g, path); *asked != 0 || v.Decision != tool.Undecided || v.Failure == nil || v.Failure.Error() != "old_string was not found" {
			t.Errorf("%s: asked %d times, %+v", path, *asked, v)
		}
	}
	if diff := cmp.Diff([]bool{true, false}, looked); diff != "" {
		t.Errorf("looked (-want +got):\n%s", diff)
	}
	// A file that may be written but not read is not inspected.
	looked = nil
	if v := try(asking(GateConfig{Config: w.config(Default, "deny Read(x)")}, yes), "x"); v.Failure == nil || len(looked) != 1 || looked[0] {
		t.Errorf("looked %v, %+v", looked, v)
	}
	// A rule still denies it.
	looked = nil
	if v := try(NewGate(GateConfig{Config: w.config(Default, "deny Edit(x)")}), "x"); v.Decision != tool.Deny || len(looked) > 0 {
		t.Errorf("%+v", v)
	}
}

func TestQuestion(t *testing.T) {
	w := newWorld(t)
	var got Question
	g := asking(GateConfig{Config: w.config(Default)}, func(_ context.Context, q Question) (Answer, error) { got = q; return Answer{}, nil })
	pass(t, g, "Edit", writesTo("../x"))
	want := Question{
		ID: "use_1", Tool: "Edit", Title: "Edit", DisplayName: "Edit", Dir: w.project, BlockedPath: w.home + "/x",
		Input:  json.RawMessage(`{"access":[{"Verb":1,"Target":"../x"}]}`),
		Reason: Reason{Kind: OutsideDirs, What: w.home + "/x"},
		Suggestions: []Update{
			{Type: AddDirectories, Directories: []string{w.home}, Destination: scope.Session},
			{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves PERM-18.
func TestSuggestions(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		tool string
		in   call
		want []string
	}{
		{"Bash", runs("go test ./..."), []string{"localSettings Bash(go test:*)"}},
		{"Bash", runs("ls && go test ./... && go vet ./... | head"), []string{"localSettings Bash(go test:*)", "localSettings Bash(go vet:*)"}},
		{"Bash", runs("bash -c x"), []string{"localSettings Bash(bash -c x)"}},
		{"Bash", runs("python x.py"), []string{"localSettings Bash(python x.py)"}},
		{"Bash", runs("a 1; b 2; c 3; d 4; e 5; f 6; g 7"), []string{"localSettings Bash(a 1)", "localSettings Bash(b 2)", "localSettings Bash(c 3)", "localSettings Bash(d 4)", "localSettings Bash(e 5)"}},
		{"Bash", runs("rm -rf /"), nil},
		{"Read", reads(w.outside + "/data.txt"), []string{"session Read(/" + w.outside + "/**)"}},
		{"Edit", writesTo("main.go"), []string{"session acceptEdits"}},
		{"Edit", writesTo(".git/config"), nil},
		{"WebFetch", connects("https://example.org/x"), []string{"localSettings WebFetch(domain:example.org)"}},
		{"mcp__db__query", call{}, []string{"localSettings mcp__db__query"}},
		{"AskUserQuestion", call{Person: true}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+fmt.Sprint(tt.in.Access_), func(t *testing.T) {
			d := decide(t, w.config(Default), tt.tool, tt.in)
			var got []string
			for _, u := range d.Suggestions {
				for _, r := range u.Rules {
					got = append(got, string(u.Destination)+" "+r.String())
					if _, err := rule.Parse(r.String()); err != nil {
						t.Errorf("%s: %v", r, err)
					}
				}
				if u.Mode != "" {
					got = append(got, string(u.Destination)+" "+string(u.Mode))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSuggestionsHelp checks that accepting a call's suggestions allows it.
func TestSuggestionsHelp(t *testing.T) {
	w := hostileWorld(t)
	for name, in := range map[string]call{
		"Bash": runs("go test ./... && make install"), "Read": reads(w.outside + "/data.txt"), "Edit": writesTo(w.outside + "/new"),
		"Write": writesTo("main.go"), "WebFetch": connects("https://example.org"), "mcp__x__y": {}, "Grep": reads("out/data.txt"), "Glob": reads("out"),
	} {
		g := NewGate(GateConfig{Config: w.config(Default)})
		g.SetSave(func(context.Context, Update) error { return nil })
		d := decide(t, w.config(Default), name, in)
		if d.Behavior != Ask {
			t.Fatalf("%s: %s", name, d.Behavior)
		}
		if err := g.Apply(t.Context(), d.Suggestions); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v := pass(t, g, name, in); v.Decision != tool.Allow {
			t.Errorf("%s is still not allowed after %+v: %s", name, d.Suggestions, v.Reason)
		}
	}
}

func TestAnswersThatChangeThings(t *testing.T) {
	w := newWorld(t)
	input := func(c call) json.RawMessage {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	tests := []struct {
		name   string
		answer Answer
		hook   bool
		rules  []string
		want   tool.Decision
		runs   string // the command that runs
	}{
		{"changed by the user", Answer{Behavior: Allow, Input: input(runs("make test"))}, false, nil, tool.Allow, "make test"},
		{"changed into what is denied", Answer{Behavior: Allow, Input: input(runs("rm x"))}, false, []string{"deny Bash(rm:*)"}, tool.Deny, "rm x"},
		{"changed by the user into what is asked about", Answer{Behavior: Allow, Input: input(runs("touch .git/x"))}, false, nil, tool.Allow, "touch .git/x"},
		{"changed by a hook", Answer{Behavior: Allow, Input: input(runs("make test"))}, true, nil, tool.Allow, "make test"},
		{"changed by a hook into what a person has to see", Answer{Behavior: Allow, Input: input(runs("touch .git/x"))}, true, nil, tool.Deny, "touch .git/x"},
		{"changed by a hook into what is denied", Answer{Behavior: Allow, Input: input(runs("rm x"))}, true, []string{"deny Bash(rm:*)"}, tool.Deny, "rm x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewGate(GateConfig{Config: w.config(Default, tt.rules...)})
			if tt.hook {
				g.SetHooks(func(context.Context, *tool.Use, []Update) (Answer, bool, error) { return tt.answer, true, nil })
			} else {
				ask, _ := answers(tt.answer)
				g.SetAsk(ask)
			}
			u := newUse(t, fake{name: "Bash"}, runs("make"))
			if err := g.Before(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			if got := u.Call.Input().(*call).Access_[0].Target; u.Verdict.Decision != tt.want || got != tt.runs {
				t.Errorf("%v of %q: %s", u.Verdict.Decision, got, u.Verdict.Reason)
			}
		})
	}
	bad, _ := answers(Answer{Behavior: Allow, Input: json.RawMessage(`[]`)})
	if err := asking(GateConfig{Config: w.config(Default)}, bad).Before(t.Context(), newUse(t, fake{name: "Bash"}, runs("make"))); err == nil {
		t.Error("an input that cannot be used passed")
	}
}

// TestRulesChangeWhileAsking checks that a rule added while the question is open applies.
func TestRulesChangeWhileAsking(t *testing.T) {
	w := newWorld(t)
	var g *Gate
	g = asking(GateConfig{Config: w.config(Default)}, func(context.Context, Question) (Answer, error) {
		g.SetRules(parseRules(scope.User, "deny Bash(make)"), nil)
		return Answer{Behavior: Allow}, nil
	})
	if v := pass(t, g, "Bash", runs("make")); v.Decision != tool.Deny || !strings.Contains(v.Reason, "denies make") {
		t.Errorf("%+v", v)
	}
	if v := pass(t, g, "Bash", runs("other")); v.Decision != tool.Allow {
		t.Errorf("%+v", v)
	}
}

func TestPermissionRequestHooks(t *testing.T) {
	w := newWorld(t)
	yes, asked := answers(Answer{Behavior: Allow})
	tests := []struct {
		name  string
		hook  Answer
		ok    bool
		err   error
		in    call
		want  tool.Decision
		asked int
	}{
		{"no opinion", Answer{}, false, nil, runs("make"), tool.Allow, 1},
		{"allow", Answer{Behavior: Allow, By: "hook x"}, true, nil, runs("make"), tool.Allow, 0},
		{"deny", Answer{Behavior: Deny, Message: "no"}, true, nil, runs("make"), tool.Deny, 0},
		{"broken", Answer{Behavior: Allow}, true, errors.New("crash"), runs("make"), tool.Allow, 1},
		{"not for a person", Answer{Behavior: Allow}, true, nil, call{Person: true}, tool.Allow, 1},
		{"deny for a person", Answer{Behavior: Deny}, true, nil, call{Person: true}, tool.Deny, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			*asked = 0
			g := asking(GateConfig{Config: w.config(Default)}, yes)
			g.SetHooks(func(context.Context, *tool.Use, []Update) (Answer, bool, error) { return tt.hook, tt.ok, tt.err })
			if v := pass(t, g, "Bash", tt.in); v.Decision != tt.want || *asked != tt.asked || v.Rejected {
				t.Errorf("%+v, asked %d times", v, *asked)
			}
		})
	}
}

// Proves PERM-27.
func TestDenialTracking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		answer := Answer{Behavior: Deny}
		n := 0
		g := asking(GateConfig{Config: w.config(Default)}, func(context.Context, Question) (Answer, error) { n++; return answer, nil })
		for i := range 3 {
			v := pass(t, g, "Bash", runs("make"))
			if told := len(v.Context) > 0; told != (i == 2) {
				t.Errorf("denial %d: the model was told: %v", i+1, told)
			}
		}
		v := pass(t, g, "Bash", runs("make"))
		if n != 3 || v.Decision != tool.Deny || v.Rejected {
			t.Errorf("the fourth identical call: asked %d times, %+v", n, v)
		}
		pass(t, g, "Bash", runs("make other"))
		if n != 4 {
			t.Errorf("another call: asked %d times", n)
		}
		time.Sleep(31 * time.Second)
		answer.Behavior = Allow
		if v := pass(t, g, "Bash", runs("make")); n != 5 || v.Decision != tool.Allow {
			t.Errorf("after the cool-down: asked %d times, %+v", n, v)
		}
		answer.Behavior = Deny // the success reset the count
		pass(t, g, "Bash", runs("make"))
		pass(t, g, "Bash", runs("make"))
		pass(t, g, "Bash", runs("ls"))
		pass(t, g, "Bash", runs("make"))
		pass(t, g, "Bash", runs("make"))
		if n != 9 {
			t.Errorf("a success in between: asked %d times", n)
		}
		text := msg.PlainText(func() []msg.Part { v := pass(t, g, "Bash", runs("make")); return v.Context }())
		if !strings.Contains(text, "Change the approach") {
			t.Errorf("%q", text)
		}
	})
}

// TestAutoMode checks that without a classifier, auto mode allows the same as acceptEdits and
// asks about the rest, with broad allow rules suspended.
//
// Proves PERM-24.
func TestAutoMode(t *testing.T) {
	w := newWorld(t)
	yes, asked := answers(Answer{Behavior: Allow})
	tests := []struct {
		name  string
		ask   Asker
		rules []string
		in    call
		tool  string
		want  tool.Decision
		asked int
	}{
		{"asks", yes, nil, runs("make"), "Bash", tool.Allow, 1},
		{"headless", nil, nil, runs("make"), "Bash", tool.Deny, 0},
		{"reading", nil, nil, runs("ls"), "Bash", tool.Allow, 0},
		{"edits inside", nil, nil, writesTo("main.go"), "Edit", tool.Allow, 0},
		{"harmless lists", nil, nil, call{Plans: true}, "TaskCreate", tool.Allow, 0},
		{"safety checks", nil, nil, writesTo(".git/config"), "Edit", tool.Deny, 0},
		{"deny rules hold", yes, []string{"deny Bash(make)"}, runs("make"), "Bash", tool.Deny, 0},
		{"broad rules are suspended", nil, []string{"allow Bash(python:*)"}, runs("python x.py"), "Bash", tool.Deny, 0},
		{"so are whole tools", nil, []string{"allow Bash"}, runs("make"), "Bash", tool.Deny, 0},
		{"and agents", nil, []string{"allow Agent(x)"}, call{Contents: []string{"x"}}, "Agent", tool.Deny, 0},
		{"and runners", nil, []string{"allow Bash(npx *)"}, runs("npx x"), "Bash", tool.Deny, 0},
		{"and what matches anything", nil, []string{"allow Bash(* x)"}, runs("a x"), "Bash", tool.Deny, 0},
		{"narrow rules count", nil, []string{"allow Bash(terraform plan:*)"}, runs("terraform plan"), "Bash", tool.Allow, 0},
		{"exact rules count", nil, []string{"allow Bash(python x.py)"}, runs("python x.py"), "Bash", tool.Allow, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			*asked = 0
			g := asking(GateConfig{Config: w.config(Auto, tt.rules...)}, tt.ask)
			if v := pass(t, g, tt.tool, tt.in); v.Decision != tt.want || *asked != tt.asked {
				t.Errorf("%+v, asked %d times", v, *asked)
			}
		})
	}
	auto := pass(t, NewGate(GateConfig{Config: w.config(Auto)}), "Bash", runs("make"))
	other := pass(t, NewGate(GateConfig{Config: w.config(Default)}), "Bash", runs("make"))
	if auto.Reason != other.Reason {
		t.Errorf("a refusal says %q, and %q in default mode", auto.Reason, other.Reason)
	}
	if d := decide(t, w.config(Default, "allow Bash(python:*)"), "Bash", runs("python x.py")); d.Behavior != Allow {
		t.Errorf("outside auto mode: %s", d.Behavior)
	}
}

// Proves PERM-22.
func TestBypassGuard(t *testing.T) {
	w := newWorld(t)
	g := NewGate(GateConfig{Config: w.config(Default)})
	if err := g.SetMode(Bypass); !errors.Is(err, ErrBypass) || g.Mode() != Default {
		t.Errorf("%v, mode %s", err, g.Mode())
	}
	if err := g.Apply(t.Context(), []Update{{Type: SetMode, Mode: Bypass, Destination: scope.Session}}); !errors.Is(err, ErrBypass) {
		t.Errorf("by an update: %v", err)
	}
	g = NewGate(GateConfig{Config: w.config(Default), MayBypass: true})
	if err := g.SetMode(Bypass); err != nil || g.Mode() != Bypass {
		t.Errorf("%v, mode %s", err, g.Mode())
	}
}

// Proves PERM-45.
func TestUpdates(t *testing.T) {
	w := newWorld(t)
	var saved []Update
	g := NewGate(GateConfig{Config: w.config(Default, "allow Bash(old)")})
	g.SetSave(func(_ context.Context, u Update) error { saved = append(saved, u); return nil })
	rules := func() []string {
		var all []string
		for _, r := range g.Policy().Rules() {
			all = append(all, string(r.Scope)+" "+string(r.Behavior)+" "+r.String())
		}
		slices.Sort(all)
		return all
	}
	add := Update{Type: AddRules, Behavior: Allow, Rules: []RuleValue{{"Bash", "make"}, {"Bash", "make"}, {"Read", ""}}, Destination: scope.Local}
	for range 2 { // duplicates are dropped
		if err := g.Apply(t.Context(), []Update{add}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"localSettings allow Bash(make)", "localSettings allow Read", "userSettings allow Bash(old)"}, rules()); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	updates := []Update{
		{Type: ReplaceRules, Behavior: Allow, Rules: []RuleValue{{"Bash", "new"}}, Destination: scope.Local},
		{Type: RemoveRules, Behavior: Allow, Rules: []RuleValue{{"Bash", "old"}}, Destination: scope.User},
		{Type: AddRules, Behavior: Deny, Rules: []RuleValue{{"Bash", "rm:*"}}, Destination: scope.Session},
		{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session},
		{Type: AddDirectories, Directories: []string{w.outside}, Destination: scope.Session},
	}
	if err := g.Apply(t.Context(), updates); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"localSettings allow Bash(new)", "session deny Bash(rm:*)"}, rules()); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if v := pass(t, g, "Edit", writesTo(w.outside+"/x")); v.Decision != tool.Allow || g.Mode() != AcceptEdits {
		t.Errorf("in the added directory: %+v", v)
	}
	if err := g.Apply(t.Context(), []Update{{Type: RemoveDirectories, Directories: []string{w.outside, w.project}, Destination: scope.Session}}); err != nil {
		t.Fatal(err)
	}
	if got := g.Policy().Config().Dirs; !slices.Equal(got, []string{w.project}) {
		t.Errorf("directories %q", got)
	}
	if len(saved) != 4 {
		t.Errorf("%d updates were saved", len(saved))
	}
	// A reload replaces the rules from settings and keeps the rest.
	if err := g.Apply(t.Context(), []Update{{Type: AddDirectories, Directories: []string{"src"}, Destination: scope.Session}}); err != nil {
		t.Fatal(err)
	}
	g.SetRules(parseRules(scope.User, "ask Bash(x)"), []string{w.outside})
	if got := g.Policy().Config().Dirs; !slices.Equal(got, []string{w.project, w.outside, w.project + "/src"}) {
		t.Errorf("directories after a reload: %q", got)
	}
	if diff := cmp.Diff([]string{"session deny Bash(rm:*)", "userSettings ask Bash(x)"}, rules()); diff != "" {
		t.Errorf("reloaded (-want +got):\n%s", diff)
	}
}

func TestUpdateThatCannotBeKept(t *testing.T) {
	w := newWorld(t)
	g := NewGate(GateConfig{Config: w.config(Default)})
	g.SetSave(func(context.Context, Update) error { return errors.New("settings.json:3: not JSON") })
	err := g.Apply(t.Context(), []Update{{Type: AddRules, Behavior: Allow, Rules: []RuleValue{{"Bash", "make"}}, Destination: scope.User}})
	if err == nil || !strings.Contains(err.Error(), "applies to this session only") {
		t.Error(err)
	}
	if v := pass(t, g, "Bash", runs("make")); v.Decision != tool.Allow {
		t.Errorf("%+v", v)
	}
	g.SetRules(nil, nil)
	if v := pass(t, g, "Bash", runs("make")); v.Decision != tool.Allow {
		t.Errorf("after a reload: %+v", v)
	}
	for _, u := range []Update{
		{Type: AddRules, Behavior: Allow, Rules: []RuleValue{{"Bash", ":*"}}, Destination: scope.Session},
		{Type: AddRules, Behavior: "maybe", Destination: scope.Session},
		{Type: AddRules, Behavior: Allow, Destination: scope.Managed},
		{Type: "forget", Destination: scope.Session},
		{Type: SetMode, Mode: "lenient", Destination: scope.Session},
		{Type: AddDirectories, Directories: []string{""}, Destination: scope.Session},
	} {
		if err := g.Apply(t.Context(), []Update{u}); err == nil {
			t.Errorf("%+v was applied", u)
		}
	}
}

// TestUpdatesUndo checks that adding rules and removing them restores the previous state.
func TestUpdatesUndo(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		c := w.config(Default, drawRules(r, "rules", Allow, Ask, Deny)...)
		c.Rules = slices.DeleteFunc(c.Rules, func(x rule.Rule) bool { return x.Broken() != nil })
		var values []RuleValue
		for _, text := range rapid.SliceOf(rapid.SampledFrom([]string{"fresh1", "fresh2:*", "(fresh)", `fresh\*`})).Draw(r, "added") {
			values = append(values, RuleValue{"Bash", text})
		}
		u := Update{Type: AddRules, Behavior: rapid.SampledFrom([]Behavior{Allow, Ask, Deny}).Draw(r, "behaviour"), Rules: values, Destination: scope.User}
		added := c.apply(u)
		if again := added.apply(u); len(again.Rules) != len(added.Rules) {
			r.Fatal("applying twice adds twice")
		}
		u.Type = RemoveRules
		back := added.apply(u)
		if diff := cmp.Diff(ruleTexts(c.Rules), ruleTexts(back.Rules)); diff != "" {
			r.Fatal(diff)
		}
	})
}

func ruleTexts(rules []rule.Rule) []string {
	var all []string
	for _, r := range rules {
		all = append(all, string(r.Behavior)+" "+r.String())
	}
	return all
}

func TestGateIsConcurrent(t *testing.T) {
	w := newWorld(t)
	yes := func(context.Context, Question) (Answer, error) { return Answer{Behavior: Allow}, nil }
	g := asking(GateConfig{Config: w.config(Default)}, yes)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			u := newUse(t, fake{name: "Bash"}, runs(fmt.Sprint("make ", i)))
			if err := g.Before(context.Background(), u); err != nil || u.Verdict.Decision != tool.Allow {
				t.Error(err, u.Verdict)
			}
		})
		wg.Go(func() {
			g.AddRule(rule.Rule{Tool: "X", Behavior: Deny, Scope: scope.Session})
			if err := g.SetMode(Modes()[i%2]); err != nil {
				t.Error(err)
			}
			g.Reminders()
		})
	}
	wg.Wait()
}

// TestRefusalsAdviseWhatHelps checks that a refusal never suggests the current mode or a rule
// that would not help.
func TestRefusalsAdviseWhatHelps(t *testing.T) {
	w := newWorld(t)
	v := pass(t, NewGate(GateConfig{Config: w.config(Bypass)}), "Bash", runs("rm -rf /"))
	if got := v.Reason; !strings.Contains(got, "the user has to confirm it") || strings.Contains(got, "bypass") || v.Remedy != "" {
		t.Errorf("%q, remedy %q", got, v.Remedy)
	}
}

// TestRulesOfACommand checks that a command's grants rank below every deny and ask, and end
// with the command.
//
// Proves SKILL-15.
func TestRulesOfACommand(t *testing.T) {
	w := newWorld(t)
	c := w.config(Default)
	c.Rules = parseRules(scope.User, "deny Bash(rm:*)", "ask Bash(git push:*)")
	g := NewGate(GateConfig{Config: c})
	decided := func(line string) string { return fmt.Sprint(pass(t, g, "Bash", runs(line)).Decision == tool.Allow) }
	all := func() string {
		return strings.Join([]string{decided("make x"), decided("rm x"), decided("git push"), decided("x; rm y")}, " ")
	}
	if got := all(); got != "false false false false" {
		t.Errorf("before: %s", got)
	}
	whole, err := rule.Parse("Bash")
	if err != nil {
		t.Fatal(err)
	}
	g.SetCommand([]rule.Rule{whole})
	if got := all(); got != "true false false false" {
		t.Errorf("while it runs: %s", got)
	}
	g.SetRules(c.Rules, nil)
	if got := all(); got != "true false false false" {
		t.Errorf("after settings were read again: %s", got)
	}
	g.SetCommand(nil)
	if got := all(); got != "false false false false" {
		t.Errorf("after it: %s", got)
	}
	c.ManagedOnly = true
	g = NewGate(GateConfig{Config: c})
	g.SetCommand([]rule.Rule{whole})
	if got := decided("make x"); got != "false" {
		t.Error("a command grants something where only managed rules count")
	}
}
