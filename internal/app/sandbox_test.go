package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/shell"
	"adze/internal/tools/bash"
)

// Proves PERM-62, PERM-63, SHSB-03.
func TestSandboxInForce(t *testing.T) {
	missing := errors.New("no sandbox works here")
	for _, tt := range []struct {
		name, settings string
		tier           sandbox.Tier
		problem        error
		want           permission.Sandbox
		confines       bool
		leave          bool
		says           string
	}{
		{"namespaces", `{}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, false, ""},
		{"asking", `{"autoAllowBashIfSandboxed":false}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true}, true, false, ""},
		{"a tier that does not protect", `{}`, sandbox.Landlock, nil, permission.Sandbox{On: true}, true, false, ""},
		{"macOS", `{}`, sandbox.Seatbelt, nil, permission.Sandbox{On: true, AutoAllow: true}, true, false, ""},
		{"may be left", `{"allowUnsandboxedCommands":true}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, true, ""},
		{"excluded", `{"excludedCommands":["docker *",":*"]}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true, Excluded: []string{"docker *"}}, true, false, `":*" is no pattern`},
		{"bad host", `{"network":{"allowedDomains":["https://x"]}}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, false, `"https://x" is ignored`},
		{"missing", `{}`, sandbox.None, missing, permission.Sandbox{Missing: true}, false, false, "switched on, but no sandbox works here. Commands run without it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, env, said := settingsOf(t, `{"sandbox":`+tt.settings+`}`, nil)
			c := openConfinement(s, env)
			defer c.Close()
			c.once.Do(func() { c.settle(tt.tier, tt.problem) })
			c.attach(&gate{Gate: permission.NewGate(permission.GateConfig{})})
			if diff := cmp.Diff(tt.want, c.gate.Policy().Config().Sandbox); diff != "" {
				t.Error(diff)
			}
			var b bash.Config
			c.confine(&b)
			if got := !b.Outside(shell.Parse("make", shell.Vars{})); got != tt.confines || b.MayLeave != tt.leave {
				t.Errorf("confines %v, may be left %v", got, b.MayLeave)
			}
			if !strings.Contains(said.String(), tt.says) || tt.says == "" && said.Len() > 0 {
				t.Errorf("said %q", said)
			}
		})
	}
	for required, want := range map[string]int{"true": exitSetup, "false": 0} {
		s, env, said := settingsOf(t, `{"sandbox":{"failIfUnavailable":`+required+`}}`, nil)
		c := openConfinement(s, env)
		c.once.Do(func() { c.settle(sandbox.None, missing) })
		if code := env.exitCode(t.Context(), c.required()); code != want || !strings.Contains(said.String(), missing.Error()) {
			t.Errorf("required %s: exit code %d, said %q", required, code, said)
		}
	}
	s, env, _ := settingsOf(t, "", nil)
	if c, err := newConfinement(s, env); c != nil || err != nil {
		t.Errorf("without a setting: %v, %v", c, err)
	}
	var none *confinement
	none.close()
	if got := none.state(); got.On || got.Missing {
		t.Errorf("%+v", got)
	}
}

// A project can switch the sandbox on and tighten it, and nothing else.
//
// Proves PERM-60.
func TestProjectsOnlyTighten(t *testing.T) {
	for key, values := range map[string]struct{ loose, tight string }{
		"sandbox.enabled":                  {"false", "true"},
		"sandbox.failIfUnavailable":        {"false", "true"},
		"sandbox.autoAllowBashIfSandboxed": {"true", "false"},
		"sandbox.excludedCommands":         {`["x"]`, ""},
		"sandbox.allowUnsandboxedCommands": {"true", ""},
		"sandbox.filesystem.allowWrite":    {`["/"]`, ""},
		"sandbox.filesystem.denyWrite":     {"", `["x"]`},
		"sandbox.filesystem.denyRead":      {"", `["x"]`},
		"sandbox.network.allowedDomains":   {`["example.org"]`, ""},
		"sandbox.network.deniedDomains":    {"", `["example.org"]`},
	} {
		for value, taken := range map[string]bool{values.loose: false, values.tight: true} {
			if value == "" {
				continue
			}
			dir := t.TempDir()
			parts := strings.Split(key, ".")
			text := value
			for i := len(parts) - 1; i >= 0; i-- {
				text = `{"` + parts[i] + `":` + text + `}`
			}
			if err := os.MkdirAll(filepath.Join(dir, ".adze"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".adze", "settings.json"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			env := &Env{Dir: dir, Stderr: &said, Getenv: func(name string) string {
				return map[string]string{"HOME": t.TempDir(), "ADZE_HOME": t.TempDir()}[name]
			}}
			s, _, err := loadSettings(env, &options{trust: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Origin(key) != ""; got != taken {
				t.Errorf("%s set to %s by a project: taken %v (%s)", key, value, got, said.String())
			}
		}
	}
}
