package teams

import "testing"

// Proves TEAM-02.
func TestAttach(t *testing.T) {
	for program, want := range map[string]string{
		"iTerm.app": "tmux -CC -L adze attach -t adze-crew",
		"":          "tmux -L adze attach -t adze-crew",
	} {
		tm := Tmux{Getenv: func(string) string { return program }}
		if got := tm.attach("adze-crew"); got != want {
			t.Errorf("%q: %s", program, got)
		}
	}
}
