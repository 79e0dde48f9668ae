package cli

import (
	"runtime/debug"
	"testing"
)

func TestBuild(t *testing.T) {
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	tests := []struct {
		name     string
		settings []debug.BuildSetting
		want     string
	}{
		{"unknown", []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
		{"clean", []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "false"}}, "+0123456789ab"},
		{"modified", []debug.BuildSetting{commit, {Key: "vcs.modified", Value: "true"}}, "+0123456789ab.modified"},
	}
	for _, tt := range tests {
		if got := buildOf("1.2.0", &debug.BuildInfo{Settings: tt.settings}).String(); got != "1.2.0"+tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
