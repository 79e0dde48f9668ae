package permission

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission/approval"
	"adze/internal/permission/reminder"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

func planGate(t *testing.T, w world, mode Mode, extra func(*GateConfig)) *Gate {
	c := GateConfig{Config: w.config(mode), MayBypass: true}
	c.PlanFile = filepath.Join(w.state, "plans", "a.md")
	c.Editable = []string{c.PlanFile}
	if extra != nil {
		extra(&c)
	}
	return NewGate(c)
}

// Proves PLAN-01.
func TestEnteringPlanMode(t *testing.T) {
	w := newWorld(t)
	g := planGate(t, w, AcceptEdits, nil)
	text, err := g.PlanMode().Enter()
	if err != nil || g.Mode() != Plan || !strings.Contains(text, "plans/a.md") {
		t.Errorf("%q, %v, mode %s", text, err, g.Mode())
	}
	if _, err := g.PlanMode().Enter(); !errors.Is(err, ErrPlanning) {
		t.Errorf("entered twice: %v", err)
	}
	if err := g.SetMode(Plan); err != nil { // entered without the tool
		t.Fatal(err)
	}
	if mode, err := g.PlanMode().Leave("", nil); err != nil || mode != AcceptEdits || g.Mode() != AcceptEdits {
		t.Errorf("left for %s, %v", mode, err)
	}
	started := planGate(t, w, Plan, func(c *GateConfig) { c.DefaultMode = Auto })
	if got := started.Policy().Config().Saved; got != Auto {
		t.Errorf("started in plan mode, saved %s", got)
	}
	started = planGate(t, w, Plan, func(c *GateConfig) { c.Rules = parseRules(scope.User, "allow Read") })
	if d := started.Policy().Config().Saved; d != Default {
		t.Errorf("saved %s", d)
	}
	auto := planGate(t, w, Auto, func(c *GateConfig) { c.Rules = parseRules(scope.User, "allow Bash(python:*)") })
	if _, err := auto.PlanMode().Enter(); err != nil || !auto.Policy().cfg.classifies() {
		t.Error("the classifier is not in force while planning", err)
	}
}

// Proves PLAN-03.
func TestPlanReminders(t *testing.T) {
	w := newWorld(t)
	g := planGate(t, w, Default, nil)
	if got := g.Reminders(); got != nil {
		t.Errorf("in default mode: %q", got)
	}
	if err := g.SetMode(Plan); err != nil {
		t.Fatal(err)
	}
	kind := func(texts []string) string {
		switch all := strings.Join(texts, "\n"); {
		case strings.Contains(all, "earlier plan"):
			return "again"
		case strings.Contains(all, "Understand") && strings.Contains(all, "need no change"): // model-side X2
			return "full"
		case strings.Contains(all, "still on"):
			return "short"
		case strings.Contains(all, "has ended"):
			return "over"
		case all == "":
			return "-"
		}
		return "?"
	}
	var got []string
	for range 12 {
		got = append(got, kind(g.Reminders()))
	}
	if diff := cmp.Diff(strings.Fields("full - - - - short - - - - short -"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := g.PlanMode().Leave("", nil); err != nil {
		t.Fatal(err)
	}
	got = []string{kind(g.Reminders()), kind(g.Reminders())}
	if err := g.SetMode(Plan); err != nil {
		t.Fatal(err)
	}
	got = append(got, kind(g.Reminders()), kind(g.Reminders()))
	// Only an existing plan is mentioned (second-look 2.18).
	file := g.Policy().Config().PlanFile
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("1. Do it."), 0o644), g.SetMode(Default), g.SetMode(Plan)); err != nil {
		t.Fatal(err)
	}
	got = append(got, kind(g.Reminders()))
	if diff := cmp.Diff([]string{"over", "-", "full", "-", "again"}, got); diff != "" {
		t.Errorf("after leaving (-want +got):\n%s", diff)
	}
}

func TestAutoReminders(t *testing.T) {
	w := newWorld(t)
	g := planGate(t, w, Default, nil)
	for _, m := range []Mode{Auto, Default} {
		if err := g.SetMode(m); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{reminder.Text(texts.English, reminder.AutoOn), reminder.Text(texts.English, reminder.AutoOff)}, g.Reminders()); diff != "" {
		t.Error(diff)
	}
}

func TestLeavingPlanMode(t *testing.T) {
	w := newWorld(t)
	g := planGate(t, w, Bypass, nil)
	if _, err := g.PlanMode().Leave("", nil); !errors.Is(err, ErrNotPlanning) {
		t.Errorf("outside plan mode: %v", err)
	}
	for _, tt := range []struct{ chosen, want Mode }{{"", Bypass}, {AcceptEdits, AcceptEdits}, {Default, Default}} {
		if err := g.SetMode(Bypass); err != nil {
			t.Fatal(err)
		}
		if _, err := g.PlanMode().Enter(); err != nil {
			t.Fatal(err)
		}
		if mode, err := g.PlanMode().Leave(tt.chosen, nil); err != nil || mode != tt.want {
			t.Errorf("chosen %q: %s, %v", tt.chosen, mode, err)
		}
	}
	// The user chooses the mode with the answer, before the tool runs.
	if _, err := g.PlanMode().Enter(); err != nil {
		t.Fatal(err)
	}
	g.SetAsk(func(context.Context, Question) (Answer, error) {
		return Answer{Behavior: Allow, Updates: []Update{{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session}}}, nil
	})
	if v := pass(t, g, "ExitPlanMode", call{Person: true, Plans: true}); v.Decision != tool.Allow {
		t.Errorf("%+v", v)
	}
	if mode, err := g.PlanMode().Leave("", nil); err != nil || mode != AcceptEdits || g.Mode() != AcceptEdits {
		t.Errorf("after the answer: %s, %v", mode, err)
	}
	if _, err := g.PlanMode().Leave("", nil); !errors.Is(err, ErrNotPlanning) {
		t.Errorf("twice: %v", err)
	}
}

// Proves PLAN-06, SHAST-08.
func TestApprovedPrompts(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/go.mod")
	g := planGate(t, w, Default, func(c *GateConfig) {
		c.Rules = parseRules(scope.User, "deny Bash(go test ./secret)", "ask Bash(go test ./slow)")
	})
	if _, err := g.PlanMode().Enter(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.PlanMode().Leave("", []approval.Prompt{{Tool: "Bash", Prompt: "Run the tests"}, {Tool: "Bash", Prompt: "start the local database"}}); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]tool.Decision{
		"go test ./...":           tool.Allow,
		"go test ./... && go vet": tool.Deny,
		"go test ./secret":        tool.Deny,
		"go test ./slow":          tool.Deny,
		"rm -rf x":                tool.Deny,
		"docker compose up -d db": tool.Deny,
		"touch .git/config":       tool.Deny,
	} {
		if v := pass(t, g, "Bash", runs(command)); v.Decision != want {
			t.Errorf("%s: %+v", command, v)
		}
	}
}

// TestRemindersAreBilingual checks that reminders use the prompt language current when they are
// sent.
//
// Proves CTX-10, X-149.
func TestRemindersAreBilingual(t *testing.T) {
	l := texts.English
	g := NewGate(GateConfig{Config: Config{Dir: "/w"}, Language: func() texts.Language { return l }})
	if err := g.SetMode(Plan); err != nil {
		t.Fatal(err)
	}
	l = texts.Chinese
	g.SetAsk(func(context.Context, Question) (Answer, error) { return Answer{}, nil })
	if got := g.Reminders(); len(got) != 1 || !strings.HasPrefix(got[0], "计划模式已开启") || !strings.Contains(got[0], "\n4. 用 ExitPlanMode") {
		t.Errorf("planning: %q", got)
	}
	if err := g.SetMode(Default); err != nil {
		t.Fatal(err)
	}
	l = texts.English
	if got := g.Reminders(); len(got) != 1 || !strings.HasPrefix(got[0], "Plan mode has ended") {
		t.Errorf("after planning: %q", got)
	}
}
