package permission

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/tool"
)

// Assertions not made elsewhere: each row fails if the one detail it names changes.

// Proves PERM-18.
func TestAtMostFiveRulesAreProposed(t *testing.T) {
	w := newWorld(t)
	d := decide(t, w.config(Default), "Bash", runs("go vet . && go build . && npm test && npm ci && make a && cargo build && cargo test"))
	if n := len(d.Suggestions[0].Rules); d.Behavior != Ask || n != 5 {
		t.Errorf("%s with %d rules", d.Behavior, n)
	}
}

// Proves PERM-38.
func TestChangingTheDirectoryAndWriting(t *testing.T) {
	w := newWorld(t)
	for command, want := range map[string]Behavior{
		"touch src/x": Allow, "cd src && ls": Allow, "cd src && touch x": Ask, "cd src && sort -o x a.go": Ask, "cd src && echo x > y": Ask,
	} {
		d := decide(t, w.config(Default, "allow Bash(touch:*)", "allow Bash(sort:*)", "allow Bash(echo:*)", "allow Bash(cd:*)"), "Bash", runs(command))
		if d.Behavior != want || want == Ask && d.Reason.Kind != CdGit && d.Reason.Kind != CdWrite {
			t.Errorf("%s: %s, %s", command, d.Behavior, d.Reason.String())
		}
	}
}

// A broken call's rule matcher returns an error.
type broken struct {
	*call
	matched bool
}

func (b broken) Match(string) (bool, error) { return b.matched, errors.New("broken") }

// TestBrokenChecksNeverAllow checks that a failing tool check never allows, and denies or asks
// as its rule says.
//
// Proves PERM-01.
func TestBrokenChecksNeverAllow(t *testing.T) {
	w := newWorld(t)
	for behaviour, want := range map[string]Behavior{"allow": Ask, "ask": Ask, "deny": Deny} {
		p := Compile(w.config(Default, behaviour+" Other(x)"))
		u := newUse(t, fake{name: "Other"}, call{})
		d := Decide(p, FactsOf(p, u.Tool, broken{u.Call.(*call), true}))
		if d.Behavior != want || (want == Deny) != (d.Reason.Rule != nil && d.Reason.Rule.Behavior == Deny) {
			t.Errorf("%s: %s, %s", behaviour, d.Behavior, d.Reason.String())
		}
	}
}

// Proves PERM-42.
func TestSiblingsOfInternalPathsAreNotReadable(t *testing.T) {
	w := newWorld(t)
	c := w.config(Default)
	c.Readable = []string{filepath.Join(w.state, "plans")}
	for path, want := range map[string]Behavior{
		"plans/a.md": Allow, "plans": Allow, "plans2/a.md": Ask, "plans.md": Ask, "a.md": Ask, "plans/../a.md": Ask,
	} {
		if d := decide(t, c, "Read", reads(filepath.Join(w.state, "plans", "..")+"/"+path)); d.Behavior != want {
			t.Errorf("%s: %s, %s", path, d.Behavior, d.Reason.String())
		}
	}
}

// Proves PERM-09.
func TestLinksToDeniedDirectoriesAreDenied(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/secret/key")
	w.link(t, "secret", "open")
	w.link(t, filepath.Join(w.project, "secret", "key"), "key")
	for _, path := range []string{"open/key", "open", "key", "open/../secret/key"} {
		if d := decide(t, w.config(Bypass, "deny Read(secret/**)", "deny Read(secret)"), "Read", reads(path)); d.Behavior != Deny {
			t.Errorf("%s: %s, %s", path, d.Behavior, d.Reason.String())
		}
	}
	// A rule that names the link applies to its target.
	if d := decide(t, w.config(Bypass, "deny Read(open/**)"), "Read", reads("secret/key")); d.Behavior != Deny {
		t.Errorf("%s, %s", d.Behavior, d.Reason.String())
	}
	if err := os.Remove(filepath.Join(w.project, "open")); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, w.config(Bypass, "deny Read(open/**)"), "Read", reads("secret/key")); d.Behavior != Allow {
		t.Errorf("without the link: %s, %s", d.Behavior, d.Reason.String())
	}
}

// TestFirstSavedModeCounts checks that planning returns to the first mode it was entered from.
//
// Proves PLAN-01.
func TestFirstSavedModeCounts(t *testing.T) {
	w := newWorld(t)
	c := w.config(Plan)
	c.Saved = AcceptEdits
	g := NewGate(GateConfig{Config: c, DefaultMode: Auto})
	if err := g.SetMode(Plan); err != nil {
		t.Fatal(err)
	}
	if got := g.PlanMode().After(); got != AcceptEdits {
		t.Errorf("the work would continue in %s", got)
	}
	if mode, err := g.PlanMode().Leave("", nil); err != nil || mode != AcceptEdits {
		t.Errorf("left for %s, %v", mode, err)
	}
}

// An observed call's shown input has more than the model wrote.
type observed struct{ *call }

func (observed) Observe() any { return map[string]string{"file_path": "/expanded/x"} }

// Proves PERM-15.
func TestQuestionsShowTheExpandedInput(t *testing.T) {
	w := newWorld(t)
	var got json.RawMessage
	g := asking(GateConfig{Config: w.config(Default)}, func(_ context.Context, q Question) (Answer, error) {
		got = q.Input
		return Answer{Behavior: Allow}, nil
	})
	u := newUse(t, fake{name: "Edit"}, writesTo("x"))
	model := string(u.Input)
	u.Call = observed{u.Call.(*call)}
	if err := g.Before(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if string(got) != `{"file_path":"/expanded/x"}` || string(u.Input) != model || u.Verdict.Decision != tool.Allow {
		t.Errorf("shown %s, input %s, %+v", got, u.Input, u.Verdict)
	}
}
