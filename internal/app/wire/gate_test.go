package wire

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/app/conversation"
	"adze/internal/permission"
	"adze/internal/settings"
	"adze/internal/setup"
)

func unconfined() bool { return false }

// Proves PERM-22.
func TestMayBypass(t *testing.T) {
	tests := []struct {
		name    string
		uid     int
		sandbox string
		ok      bool
	}{
		{"a user", 1000, "", true},
		{"root", 0, "", false},
		{"root in a sandbox", 0, "1", true},
		{"root that claims a sandbox", 0, "0", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			place := newPlace(t)
			place.Vars["IS_SANDBOX"] = tt.sandbox
			p := place.open(settings.Source{}).values().Permissions
			if err := conversation.MayBypass(tt.uid, p, func() bool { return true }); err != nil {
				t.Errorf("in the sandbox: %v", err)
			}
			err := conversation.MayBypass(tt.uid, p, unconfined)
			if (err == nil) != tt.ok {
				t.Error(err)
			}
			if wrong := (*setup.Error)(nil); err != nil && !errors.As(err, &wrong) {
				t.Errorf("nothing was run, but the exit code is wrong: %v", err)
			}
			p = place.open(settings.Source{ManagedInline: `{"permissions":{"disableBypassPermissionsMode":"disable"}}`}).values().Permissions
			if err := conversation.MayBypass(tt.uid, p, func() bool { return true }); err == nil || !strings.Contains(err.Error(), "administrator") {
				t.Errorf("where the administrator rules it out: %v", err)
			}
		})
	}
}

// Proves PERM-21.
func TestStartMode(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		access   AccessSpec
		want     permission.Mode
		says     string
	}{
		{"nothing said", "", AccessSpec{}, permission.Default, ""},
		{"by flag", "", AccessSpec{Mode: "plan"}, permission.Plan, ""},
		{"by its other name", "", AccessSpec{Mode: "manual"}, permission.Default, ""},
		{"flag before settings", `{"permissions":{"defaultMode":"dontAsk"}}`, AccessSpec{Mode: "acceptEdits"}, permission.AcceptEdits, ""},
		{"by settings", `{"permissions":{"defaultMode":"dontAsk"}}`, AccessSpec{}, permission.DontAsk, ""},
		{"unknown in settings", `{"permissions":{"defaultMode":"lenient"}}`, AccessSpec{}, permission.Default, "unknown permission mode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			g, err := conversation.NewGate(p.open(settings.Source{Inline: tt.settings}).place(), tt.access, unconfined)
			if err != nil || g.Mode() != tt.want || !strings.Contains(p.said.String(), tt.says) {
				t.Errorf("%s, %v, said %q", g.Mode(), err, p.said.String())
			}
		})
	}
	if _, err := conversation.NewGate(newPlace(t).open(settings.Source{}).place(), AccessSpec{Mode: "lenient"}, unconfined); err == nil || !strings.Contains(err.Error(), "default, acceptEdits, plan") {
		t.Error(err)
	}
}
