package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"adze/internal/commands"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/hook"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings"
)

// fine returns the configuration of a machine without problems.
func fine(t *testing.T, vars map[string]string) Config {
	t.Helper()
	getenv := func(name string) string { return vars[name] }
	vars["ADZE_HOME"] = filepath.Join(t.TempDir(), "not", "made", "yet")
	p, _ := settings.Open(settings.Source{Dir: t.TempDir(), Getenv: getenv})
	says := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	return Config{
		Project: p, Version: "1", Getenv: getenv, Terminal: true, Provider: says("one"), Search: says("built in"), Shell: says("/bin/sh"), Sandbox: says("off"),
		Policy: func() (*permission.Policy, error) { return permission.Compile(permission.Config{}), nil },
		Hooks:  func() []hook.Listing { return nil },
	}
}

// found returns the named check.
func found(t *testing.T, checks []commands.Check, name string) commands.Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("%s was not looked at: %v", name, checks)
	return commands.Check{}
}

// Proves CMD-06, PERM-10, HOOK-32.
func TestExamine(t *testing.T) {
	c := fine(t, map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm"})
	checks := Examine(t.Context(), c)
	if n := commands.Broken(checks); n != 0 {
		t.Errorf("unexpected problems (%d): %v", n, checks)
	}
	if _, err := os.Stat(c.Project.Home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state home was made: %v", err)
	}

	c = fine(t, map[string]string{"LANG": "C", "TERM": "dumb"})
	broken := func() (string, error) { return "", errors.New("it is broken") }
	c.Provider, c.Search, c.Shell, c.Sandbox = broken, broken, broken, broken
	c.Reach = func(context.Context) (string, error) { return "", errors.New("no route") }
	c.Policy = func() (*permission.Policy, error) {
		return permission.Compile(permission.Config{Rules: []rule.Rule{
			{Tool: "Bash", Behavior: rule.Deny, Scope: scope.User}, {Tool: "Bash", Content: "ls", Behavior: rule.Allow, Scope: scope.User},
		}}), nil
	}
	c.Hooks = func() []hook.Listing {
		return []hook.Listing{{Event: hook.Stop, Label: "log", Idle: "not trusted"}, {Event: hook.Stop, Label: "wait", Slow: true}}
	}
	c.HookProblems = []hook.Problem{{Source: "user", Path: "Stop[0]", Text: "is wrong"}}
	c.Servers = func() (*roster.Roster, error) {
		return &roster.Roster{Entries: []*roster.Entry{
			{Name: "db", File: "/x.json", Scope: roster.User, Problem: errors.New("has no command"), Warnings: []string{"is old"}}, {Name: "theirs", Scope: roster.Project, Problem: errors.New("planted")},
		}}, nil
	}
	c.Skills = func(context.Context) *library.Set {
		return &library.Set{Problems: []skill.Problem{{File: "/s/SKILL.md", Text: "is too large"}}}
	}
	c.Further = []func(context.Context) commands.Check{func(context.Context) commands.Check {
		return commands.Check{Name: "plugins", Problems: []string{"one is broken"}}
	}}
	checks = Examine(t.Context(), c)
	for name, want := range map[string]string{
		"provider": "it is broken", "search": "it is broken", "shell": "it is broken", "sandbox": "it is broken", "network": "no route",
		"permission rules": "allow Bash(ls) never takes effect: deny Bash comes first", "hooks": "Stop[0]", "MCP servers": "db in /x.json: has no command",
		"skills": "/s/SKILL.md: is too large", "plugins": "one is broken",
	} {
		if c := found(t, checks, name); !strings.Contains(strings.Join(c.Problems, "\n"), want) || strings.Contains(fmt.Sprint(c), "planted") {
			t.Errorf("%s: %v", name, c)
		}
	}
	notes := map[string]string{"hooks": "wait is slow and delays Stop", "MCP servers": "db: is old"}
	if runtime.GOOS == "linux" {
		notes["terminal"], notes["locale"] = "TERM does not name", "not one with UTF-8"
	}
	for name, want := range notes {
		if c := found(t, checks, name); !strings.Contains(strings.Join(c.Notes, "\n"), want) {
			t.Errorf("%s: %v", name, c)
		}
	}
	page := fmt.Sprint(commands.CheckPage(checks))
	if want := fmt.Sprintf("%d problems were found.", commands.Broken(checks)); !strings.Contains(page, want) {
		t.Errorf("%s is not in %s", want, page)
	}
}

// TestHome checks that an unwritable home is found, also if a file is in the way.
func TestHome(t *testing.T) {
	c := fine(t, map[string]string{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Project.Home = file
	if got := c.home(); len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "sessions cannot be saved in "+file) {
		t.Error(got)
	}
	c.Project.HomeErr = errors.New("there is none")
	if got := c.home(); len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "there is none") {
		t.Error(got)
	}
}
