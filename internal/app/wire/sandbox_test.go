package wire

import (
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/permission/confine"
	"adze/internal/settings"
	"adze/internal/tool/command"
	"adze/internal/tool/tooltest"
	"adze/internal/tools/bash"
)

// TestSandboxOfCommands checks that the shell tool queries the sandbox for every command, so
// that changed settings apply to the next one.
//
// Proves SHSB-01.
func TestSandboxOfCommands(t *testing.T) {
	w := newPlace(t).open(settings.Source{})
	c, err := w.newConfinement(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Attach(permission.NewGate(permission.GateConfig{}))
	offers := func() bool { // reports whether the tool can leave the sandbox
		tl := bash.New(bash.Config{Config: command.Config{Dir: t.TempDir}, Sandbox: c})
		return strings.Contains(string(tl.Spec().Schema), "dangerouslyDisableSandbox")
	}
	if c.On() || c.Leaves() || offers() {
		t.Error("it is switched off, and confines or may be left")
	}
	c.Reload(confine.Settings{Enabled: true, AllowUnsandboxed: true})
	if !c.On() || !c.Leaves() || !offers() {
		t.Error("it is switched on, and does not confine or may not be left")
	}
}

// TestSandboxIsDescribed checks that the sandbox is described in both languages.
func TestSandboxIsDescribed(t *testing.T) {
	box := confine.New(confine.Config{Settings: confine.Settings{Enabled: true, AllowUnsandboxed: true}})
	defer box.Close()
	tl := bash.New(bash.Config{Config: command.Config{Dir: func() string { return "/" }}, Sandbox: box})
	tooltest.Translated(t, tl)
}
