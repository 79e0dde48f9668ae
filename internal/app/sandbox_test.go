package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/confine"
	"adze/internal/permission"
	toolcommand "adze/internal/tool/command"
	"adze/internal/tool/tooltest"
	"adze/internal/tools/bash"
)

// The shell tool asks the sandbox at every command: settings that change count for the next one.
//
// Proves SHSB-01.
func TestSandboxOfCommands(t *testing.T) {
	s, env, _ := settingsOf(t, `{}`, nil)
	c, err := newConfinement(s, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Attach(permission.NewGate(permission.GateConfig{}))
	offers := func() bool { // to leave the sandbox
		tl := bash.New(bash.Config{Config: toolcommand.Config{Dir: t.TempDir}, Sandbox: c})
		return strings.Contains(string(tl.Spec().Schema), "dangerouslyDisableSandbox")
	}
	if c.On() || c.Leaves() || offers() {
		t.Error("it is switched off, and confines or may be left")
	}
	s, _, _ = settingsOf(t, `{"sandbox":{"enabled":true,"allowUnsandboxedCommands":true}}`, nil)
	c.Reload(sandboxSettings(s))
	if !c.On() || !c.Leaves() || !offers() {
		t.Error("it is switched on, and does not confine or may not be left")
	}
}

// Every setting of the sandbox reaches it.
func TestSandboxSettings(t *testing.T) {
	s, _, _ := settingsOf(t, `{"sandbox":{
		"enabled":true,"failIfUnavailable":true,"autoAllowBashIfSandboxed":true,"allowUnsandboxedCommands":true,"excludedCommands":["a *"],
		"filesystem":{"allowWrite":["b"],"denyWrite":["c"],"denyRead":["d"]},
		"network":{"allowedDomains":["e.org"],"deniedDomains":["f.org"]}},
		"shell":{"passEnv":["G"]}}`, nil)
	want := confine.Settings{
		Enabled: true, Required: true, AutoAllow: true, AllowUnsandboxed: true, Excluded: []string{"a *"},
		AllowWrite: []string{"b"}, DenyWrite: []string{"c"}, DenyRead: []string{"d"},
		AllowedDomains: []string{"e.org"}, DeniedDomains: []string{"f.org"}, PassEnv: []string{"G"},
	}
	if diff := cmp.Diff(want, sandboxSettings(s)); diff != "" {
		t.Error(diff)
	}
}

// What the model is told of the sandbox is there in both languages.
func TestSandboxIsDescribed(t *testing.T) {
	box := confine.New(confine.Config{Settings: confine.Settings{Enabled: true, AllowUnsandboxed: true}})
	defer box.Close()
	tl := bash.New(bash.Config{Config: toolcommand.Config{Dir: func() string { return "/" }}, Sandbox: box})
	tooltest.Translated(t, tl)
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
