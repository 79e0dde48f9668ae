package terminal

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func notifier(t *testing.T, settings map[string]string, env ...string) Notifier {
	return Notifier{
		Setting: func(name string) string { return settings[name] }, Dir: t.TempDir(), Say: func(text string) { t.Log(text) },
		Getenv: func(name string) string {
			for _, pair := range env {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		},
	}
}

// Proves X-126.
func TestChannels(t *testing.T) {
	for _, tt := range []struct {
		channel, env, want string
	}{
		{"", "TERM=xterm", "\a"}, {"auto", "KITTY_WINDOW_ID=1", "\x1b]99;"}, {"bell", "KITTY_WINDOW_ID=1", "\a"}, {"osc9", "TERM=xterm", "\x1b]9;adze in "}, {"off", "TERM=xterm", ""},
	} {
		n := notifier(t, map[string]string{NotifyChannel: tt.channel}, tt.env)
		if got := n.Notify("Done."); !strings.HasPrefix(got, tt.want) || got == "" != (tt.want == "") {
			t.Errorf("%s: %q", tt.channel, got)
		}
	}
}

// TestCommand checks that the user's command gets the notification and replaces the terminal
// channel.
//
// Proves X-126.
func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a command of a shell")
	}
	n := notifier(t, map[string]string{NotifyCommand: "cat > said.tmp && mv said.tmp said"}, "TERM=xterm")
	if got := n.Notify(`A "question" waits.`); got != "" {
		t.Errorf("unexpected terminal output %q", got)
	}
	for range 6000 {
		if data, err := os.ReadFile(filepath.Join(n.Dir, "said")); err == nil {
			if got := string(data); !strings.Contains(got, `"message":"A \"question\" waits."`) || !strings.Contains(got, `"title":"adze in `) {
				t.Error(got)
			}
			return
		}
		time.Sleep(10 * time.Millisecond) // runs in the background
	}
	t.Error("the command did not run")
}
