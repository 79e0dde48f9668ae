//go:build unix

package bash

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/platform/shell"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

func TestContractWithALeave(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, func(c *Config) { c.Sandbox.(*box).leaves, c.SetDir = yes, nil })
	tooltest.Run(t, b.Tool, tooltest.Cases{
		Input: SandboxInput{},
		Good:  map[string]string{"inside": `{"command":"exit 3"}`, "outside": `{"command":"touch x","dangerouslyDisableSandbox":true}`},
		Slow:  `{"command":"sleep 100; touch x"}`,
		Dir:   dir,
	})
}

// TestWhatLeavesTheSandbox checks the order of the decision: no sandbox, a command excluded by
// the settings, a command that requests to leave where that may be granted; everything else is
// confined.
//
// Proves SHSB-01.
func TestWhatLeavesTheSandbox(t *testing.T) {
	excluded := func(s *shell.Script) bool { return strings.HasPrefix(s.Source, "docker") }
	const ask = `,"dangerouslyDisableSandbox":true}`
	for _, tt := range []struct {
		name, input string
		mayLeave    bool
		confined    bool
		note        string
	}{
		{"ordinary", `{"command":"touch x"}`, false, true, ""},
		{"excluded", `{"command":"docker() { :; }; docker; touch x"}`, false, false, ""},
		{"asks in vain", `{"command":"touch x"` + ask, false, true, "dangerouslyDisableSandbox was ignored"},
		{"does not ask", `{"command":"touch x","dangerouslyDisableSandbox":false}`, false, true, ""},
		{"asks", `{"command":"touch x"` + ask, true, false, ""},
		{"may ask", `{"command":"touch x"}`, true, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, func(c *Config) {
				own := c.Sandbox.(*box)
				own.leaves, own.outside = func() bool { return tt.mayLeave }, excluded
			})
			call, err := b.Bind(json.RawMessage(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.mayLeave && strings.Contains(tt.input, ask); tool.CommandOf(call).Leaves != want {
				t.Errorf("the permission check receives %v", !want)
			}
			res, err := call.Run(t.Context(), func(tool.Progress) {})
			if err != nil {
				t.Fatal(err)
			}
			if confined := b.shells.Load() == 1; confined != tt.confined {
				t.Errorf("confined: %v", confined)
			}
			if text := msg.PlainText(res.Parts); tt.note == "" && strings.Contains(text, "ignored") || !strings.Contains(text, tt.note) {
				t.Errorf("%q", text)
			}
			if offered := strings.Contains(string(b.Spec().Schema), leaveField); offered != tt.mayLeave {
				t.Errorf("the field is offered: %v", offered)
			}
		})
	}
}

// switched is a box that lets out all commands or none.
type switched struct {
	*box
	out *bool
}

func (s *switched) Outside() func(*shell.Script) bool {
	now := *s.out
	return func(*shell.Script) bool { return now }
}

// TestSandboxChangesForTheNextCommand checks that settings changed during the check never
// loosen the sandbox of that command.
//
// Proves SHSB-01.
func TestSandboxChangesForTheNextCommand(t *testing.T) {
	for _, tt := range []struct {
		name            string
		before, after   bool // may run outside
		leave, mayLeave bool
		confined        bool
	}{
		{"stays on", false, false, false, false, true},
		{"stays off", true, true, false, false, false},
		{"is switched off", false, true, false, false, true},
		{"is switched on", true, false, false, false, true},
		{"leaving is allowed", false, false, true, true, false},
		{"leaving is not allowed any more", false, false, true, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			outside, mayLeave := tt.before, true
			b := newBench(t, func(c *Config) {
				c.Sandbox = &switched{c.Sandbox.(*box), &outside}
				c.Sandbox.(*switched).leaves = func() bool { return mayLeave }
			})
			call, err := b.Bind(json.RawMessage(fmt.Sprintf(`{"command":"touch x","dangerouslyDisableSandbox":%v}`, tt.leave)))
			if err != nil {
				t.Fatal(err)
			}
			outside, mayLeave = tt.after, tt.mayLeave
			if _, err := call.Run(t.Context(), func(tool.Progress) {}); err != nil {
				t.Fatal(err)
			}
			if confined := b.shells.Load() == 1; confined != tt.confined {
				t.Errorf("confined: %v", confined)
			}
		})
	}
}

// TestDocOfTheSandbox checks that the description mentions the sandbox only if it is on, and
// the way out only if there is one.
func TestDocOfTheSandbox(t *testing.T) {
	for _, tt := range []struct{ on, leave bool }{{false, false}, {true, false}, {true, true}} {
		b := newBench(t, func(c *Config) {
			c.Sandbox.(*box).off, c.Sandbox.(*box).leaves = !tt.on, func() bool { return tt.leave }
		})
		doc := b.Spec().Description
		if strings.Contains(doc, catalogue.Text(texts.English, "sandbox")) != tt.on || strings.Contains(doc, catalogue.Text(texts.English, "leave")) != tt.leave {
			t.Errorf("%+v: %s", tt, doc)
		}
	}
}

// TestGitBesideOtherCommandsRunsNoHelpers checks that a line allowed because a rule covers one
// part and git only reads must not run helpers from the repository's configuration, even though
// bash runs it.
//
// Proves SHRO-03.
func TestGitBesideOtherCommandsRunsNoHelpers(t *testing.T) {
	b := newBench(t, nil)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = b.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q")
	if err := os.WriteFile(filepath.Join(b.root, "helper"), []byte("#!/bin/sh\ntouch ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	git("config", "core.fsmonitor", "./helper")
	git("config", "diff.external", "./helper")
	if err := os.WriteFile(filepath.Join(b.root, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("-c", "core.fsmonitor=false", "add", "a.txt")
	if err := os.WriteFile(filepath.Join(b.root, "a.txt"), []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := func() bool {
		err := os.Remove(filepath.Join(b.root, "ran"))
		return err == nil
	}
	text := b.run(t, "git status --short && git --no-pager diff -- a.txt && touch x")
	if ran() || !strings.Contains(text, "AM a.txt") || !strings.Contains(text, "+two") || b.shells.Load() != 1 {
		t.Errorf("helpers ran, or git did not: %q", text)
	}
	// Commands allowed as such by a user or a rule, and programs that call git themselves, are
	// not affected.
	for _, command := range []string{"git status && git stash list && git add -N .", "sh -c 'git status'; touch x"} {
		if b.run(t, command); !ran() {
			t.Errorf("%s: the helper did not run", command)
		}
	}
}
