package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/brief"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/osproc"
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
		{"namespaces", `{"failIfUnavailable":false}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, false, ""},
		{"asking", `{"autoAllowBashIfSandboxed":false}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true}, true, false, ""},
		{"a tier that does not protect", `{"failIfUnavailable":false}`, sandbox.Landlock, nil, permission.Sandbox{On: true}, true, false, ""},
		{"macOS", `{"failIfUnavailable":false}`, sandbox.Seatbelt, nil, permission.Sandbox{On: true, AutoAllow: true}, true, false, ""},
		{"may be left", `{"allowUnsandboxedCommands":true}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, true, ""},
		{"excluded", `{"excludedCommands":["docker *",":*"]}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true, Excluded: []string{"docker *"}}, true, false, `":*" is no pattern`},
		{"bad host", `{"network":{"allowedDomains":["https://x"]}}`, sandbox.Bubblewrap, nil, permission.Sandbox{On: true, AutoAllow: true}, true, false, `"https://x" is ignored`},
		{"missing", `{"failIfUnavailable":false}`, sandbox.None, missing, permission.Sandbox{Missing: true}, false, false, "switched on, but no sandbox works here. Commands run without it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, env, said := settingsOf(t, `{"sandbox":`+strings.Replace(tt.settings, "{", `{"enabled":true,`, 1)+`}`, nil)
			c := openConfinement(s, env)
			defer c.Close()
			c.once.Do(func() { c.settle(tt.tier, tt.problem) })
			c.attach(&gate{Gate: permission.NewGate(permission.GateConfig{})})
			if diff := cmp.Diff(tt.want, c.gate.Policy().Config().Sandbox); diff != "" {
				t.Error(diff)
			}
			var b bash.Config
			c.confine(&b)
			if got := !b.Outside()(shell.Parse("make", shell.Vars{})); got != tt.confines || b.MayLeave != tt.leave {
				t.Errorf("confines %v, may be left %v", got, b.MayLeave)
			}
			if !strings.Contains(said.String(), tt.says) || tt.says == "" && said.Len() > 0 {
				t.Errorf("said %q", said)
			}
		})
	}
	for required, want := range map[string]int{"true": exitSetup, "false": 0} {
		s, env, said := settingsOf(t, `{"sandbox":{"enabled":true,"failIfUnavailable":`+required+`}}`, nil)
		c := openConfinement(s, env)
		c.once.Do(func() { c.settle(sandbox.None, missing) })
		if code := env.exitCode(t.Context(), c.required()); code != want || !strings.Contains(said.String(), missing.Error()) {
			t.Errorf("required %s: exit code %d, said %q", required, code, said)
		}
	}
	s, env, _ := settingsOf(t, "", nil)
	if c, err := newConfinement(s, env); err != nil || c.on() || c.inForce() || c.state().On {
		t.Errorf("without a setting: %v, %v", c, err)
	}
	var none *confinement
	none.close()
	if got := none.state(); got.On || got.Missing {
		t.Errorf("%+v", got)
	}
}

// Settings that change count for the next command: the gate and the tool hear of it, and a sandbox that
// is required and does not work lets nothing run.
//
// Proves PERM-62, PERM-63, SHSB-01.
func TestSandboxSettingsChange(t *testing.T) {
	s, env, said := settingsOf(t, `{}`, nil)
	c := openConfinement(s, env)
	defer c.Close()
	c.attach(&gate{Gate: permission.NewGate(permission.GateConfig{})})
	var b bash.Config
	c.confine(&b)
	line := shell.Parse("make", shell.Vars{})
	outside := func() bool { return b.Outside()(line) }
	change := func(text string) {
		t.Helper()
		s, _, _ := settingsOf(t, text, nil)
		c.reload(s)
	}
	if !outside() || b.Confines() || c.tested.Load() {
		t.Error("it is off, and confines or was tested")
	}
	bound := b.Outside()
	change(`{"sandbox":{"enabled":true,"network":{"allowedDomains":["https://x"]}}}`)
	c.once.Do(func() { c.settle(sandbox.Bubblewrap, nil) })
	if outside() || !bound(line) || !c.gate.Policy().Config().Sandbox.AutoAllow || !strings.Contains(said.String(), `"https://x" is ignored`) {
		t.Errorf("switched on: %+v, said %q", c.gate.Policy().Config().Sandbox, said)
	}
	change(`{"sandbox":{"enabled":true,"excludedCommands":["make"],"autoAllowBashIfSandboxed":false}}`)
	if got := c.gate.Policy().Config().Sandbox; !outside() || got.AutoAllow || !got.On {
		t.Errorf("excluded: %+v", got)
	}
	change(`{}`)
	if got := c.gate.Policy().Config().Sandbox; !outside() || got.On {
		t.Errorf("switched off: %+v", got)
	}
	c.problem = errors.New("no sandbox works here") // it is lost
	for required, want := range map[string]bool{"false": true, "true": false} {
		change(`{"sandbox":{"enabled":true,"failIfUnavailable":` + required + `}}`)
		if got := c.gate.Policy().Config().Sandbox; outside() != want || !got.Missing {
			t.Errorf("lost, required %s: outside %v, %+v", required, outside(), got)
		}
	}
}

// What the model is told of the sandbox is there in both languages.
func TestSandboxIsDescribed(t *testing.T) {
	tl := bash.New(bash.Config{
		Dir:  func() string { return "/" },
		Wrap: func(c osproc.Cmd) (osproc.Cmd, func(string) string, error) { return c, nil, nil }, MayLeave: true,
	})
	if missing := brief.Untranslated(brief.Chinese, []msg.ToolSpec{tl.Spec()}); len(missing) > 0 {
		t.Errorf("%q", missing)
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
