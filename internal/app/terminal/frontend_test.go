package terminal

import (
	"errors"
	"os"
	"strings"
	"testing"

	"adze/internal/platform/term"
	"adze/internal/ui/tui/dialog"
)

func size(width, height int) func() (int, int) { return func() (int, int) { return width, height } }

// TestFrontEnd checks that the user's choice has priority, and that a terminal gets keys and
// live rows only if it is known to support them.
//
// Proves X-129.
func TestFrontEnd(t *testing.T) {
	tests := []struct {
		name string
		set  func(*FrontEnd)
		env  map[string]string
		want string
	}{
		{"a usual terminal", nil, nil, ""},
		{"the setting", func(s *FrontEnd) { s.Setting = "plain" }, nil, "the setting ui"},
		{"the flag before the setting", func(s *FrontEnd) { s.Setting, s.Plain = "plain", true }, nil, "--plain"},
		{"asked for", nil, map[string]string{"ADZE_PLAIN": "1"}, "ADZE_PLAIN"},
		{"asked for by another convention", nil, map[string]string{"ACCESSIBLE": "yes"}, "ACCESSIBLE"},
		{"not asked for", nil, map[string]string{"ADZE_PLAIN": "0", "ACCESSIBLE": "False", "CI": "false"}, ""},
		{"no kind", nil, map[string]string{"TERM": ""}, "TERM"},
		{"dumb", nil, map[string]string{"TERM": "dumb"}, "TERM"},
		{"unknown", nil, map[string]string{"TERM": "unknown"}, "TERM"},
		{"the console", nil, map[string]string{"TERM": "linux"}, ""},
		{"the shell of an editor", nil, map[string]string{"INSIDE_EMACS": "29.1,comint"}, "INSIDE_EMACS"},
		{"its terminal", nil, map[string]string{"INSIDE_EMACS": "29.1,eat"}, ""},
		{"its other terminal", nil, map[string]string{"INSIDE_EMACS": "vterm,29.1"}, ""},
		{"a build server", nil, map[string]string{"CI": "true"}, "CI"},
		{"a desk where CI is set", nil, map[string]string{"CI": "true", "TMUX": "/tmp/tmux-1000/default,1,0"}, ""},
		{"another desk", nil, map[string]string{"CI": "1", "TERM_PROGRAM": "Apple_Terminal"}, ""},
		{"a third", nil, map[string]string{"CI": "1", "VTE_VERSION": "7600"}, ""},
		{"too narrow", func(s *FrontEnd) { s.Size = size(19, 24) }, nil, "the size of the terminal"},
		{"too low", func(s *FrontEnd) { s.Size = size(80, 5) }, nil, "the size of the terminal"},
		{"just large enough", func(s *FrontEnd) { s.Size = size(20, 6) }, nil, ""},
		{"of unknown size", func(s *FrontEnd) { s.Size = size(0, 0) }, nil, ""},
		{"without colours", nil, map[string]string{"NO_COLOR": "1"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := FrontEnd{Setting: "auto", Size: size(80, 24), Getenv: func(name string) string {
				if value, ok := tt.env[name]; ok || name != "TERM" {
					return value
				}
				return "xterm-256color"
			}}
			if tt.set != nil {
				tt.set(&s)
			}
			if got := s.LineByLine(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWithoutKeys checks that no dialog is shown if the terminal does not deliver keys.
func TestWithoutKeys(t *testing.T) {
	broken := errors.New("not a terminal")
	s := FrontEnd{
		In: os.Stdin, Out: &strings.Builder{}, Size: size(80, 24), Getenv: func(name string) string { return map[string]string{"TERM": "xterm"}[name] },
		Keys: func() (func(), error) { return nil, broken },
	}
	if !s.Asks() && term.Awaits {
		t.Error("it does not ask with dialogs")
	}
	if chosen, typed, err := s.Ask(t.Context(), dialog.Simple{Answers: []string{"Yes"}}); chosen != -1 || typed != nil || !errors.Is(err, ErrKeys) || term.Awaits && !errors.Is(err, broken) {
		t.Errorf("%d, %q, %v", chosen, typed, err)
	}
	if s.In = strings.NewReader("y"); s.Asks() {
		t.Error("it asks who is not there")
	}
	if _, _, err := s.Ask(t.Context(), dialog.Simple{}); !errors.Is(err, ErrKeys) {
		t.Error(err)
	}
}
