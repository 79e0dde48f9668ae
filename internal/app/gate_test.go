package app

import (
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/platform/config"
)

// settingsOf returns settings as a flag and the environment give them.
func settingsOf(t *testing.T, text string, env map[string]string) (*config.Settings, *Env, *strings.Builder) {
	t.Helper()
	var said strings.Builder
	dir := t.TempDir()
	e := &Env{Dir: dir, Stderr: &said, Getenv: func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"HOME": dir, "ADZE_HOME": dir}[name]
	}}
	s, _, err := loadSettings(e, &options{settings: text})
	if err != nil {
		t.Fatal(err)
	}
	return s, e, &said
}

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
		{"root who says that it is none", 0, "0", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, _ := settingsOf(t, "", map[string]string{"IS_SANDBOX": tt.sandbox})
			if err := mayBypass(tt.uid, s, func() bool { return true }); err != nil {
				t.Errorf("in the sandbox: %v", err)
			}
			if err := mayBypass(tt.uid, s, unconfined); (err == nil) != tt.ok {
				t.Error(err)
			}
		})
	}
}

// Proves PERM-21.
func TestStartMode(t *testing.T) {
	tests := []struct {
		name     string
		settings string
		o        options
		want     permission.Mode
		says     string
	}{
		{"nothing said", "", options{}, permission.Default, ""},
		{"by flag", "", options{mode: "plan"}, permission.Plan, ""},
		{"by its other name", "", options{mode: "manual"}, permission.Default, ""},
		{"flag before settings", `{"permissions":{"defaultMode":"dontAsk"}}`, options{mode: "acceptEdits"}, permission.AcceptEdits, ""},
		{"by settings", `{"permissions":{"defaultMode":"dontAsk"}}`, options{}, permission.DontAsk, ""},
		{"unknown in settings", `{"permissions":{"defaultMode":"lenient"}}`, options{}, permission.Default, "unknown permission mode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, env, said := settingsOf(t, tt.settings, nil)
			mode, err := startMode(&tt.o, s, env, unconfined)
			if err != nil || mode != tt.want || !strings.Contains(said.String(), tt.says) {
				t.Errorf("%s, %v, said %q", mode, err, said)
			}
		})
	}
	s, env, _ := settingsOf(t, "", nil)
	if _, err := startMode(&options{mode: "lenient"}, s, env, unconfined); err == nil || !strings.Contains(err.Error(), "default, acceptEdits, plan") {
		t.Error(err)
	}
}
