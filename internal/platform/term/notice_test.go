package term

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// Proves X-126.
func TestNotice(t *testing.T) {
	tests := []struct {
		channel Channel
		env     []string
		text    string
		want    string
	}{
		{Bell, nil, "Done", "\a"},
		{"", nil, "Done", "\a"},
		{Bell, []string{"TMUX=x"}, "Done", "\a"},
		{OSC9, nil, "Done", "\x1b]9;adze: Done\a"},
		{OSC777, nil, "Run make; ok?", "\x1b]777;notify;adze;Run make, ok?\a"},
		{OSC99, nil, "Done", "\x1b]99;i=adze:d=0;adze\x1b\\\x1b]99;i=adze:p=body;Done\x1b\\"},
		{OSC777, []string{"TMUX=x"}, "Done", "\x1bPtmux;\x1b\x1b]777;notify;adze;Done\a\x1b\\"},
		{OSC9, []string{"STY=x"}, "Done", "\x1bP\x1b]9;adze: Done\a\x1b\\"},
		{OSC9, nil, "two\nlines\x1b]52;c;aGk=\a\x1b[31m and\ta tab", "\x1b]9;adze: two lines and a tab\a"},
		{OSC9, nil, strings.Repeat("x", 300), "\x1b]9;adze: " + strings.Repeat("x", maxNotice) + "...\a"},
	}
	for _, tt := range tests {
		if got := Notice(tt.channel, "adze", tt.text, vars(tt.env...)); got != tt.want {
			t.Errorf("%s %v %q:\ngot  %q\nwant %q", tt.channel, tt.env, tt.text, got, tt.want)
		}
	}
}

// TestNoticeIsOneSequence checks that no text can end the sequence early.
//
// Proves X-126.
func TestNoticeIsOneSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab ;:\x1b\\]\a\x9c\x9d\x07\n\r\x90é\u202e"))).Draw(t, "text")
		got := Notice(OSC777, text, text, vars())
		inner := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]777;notify;"), "\a")
		if len(inner) != len(got)-len("\x1b]777;notify;\a") || strings.ContainsAny(inner, "\x1b\a\u009c\u009d\u0090\n\r") || strings.Count(inner, ";") != 1 {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

// Proves.
func TestFind(t *testing.T) {
	tests := []struct {
		env  []string
		want Terminal
	}{
		{[]string{"TERM=xterm-kitty", "KITTY_WINDOW_ID=1", "COLORTERM=truecolor"}, Terminal{Name: "kitty", Colours: 1 << 24, Notices: OSC99}},
		{[]string{"TERM=foot"}, Terminal{Name: "foot", Colours: 16, Notices: OSC777}},
		{[]string{"TERM=linux"}, Terminal{Name: "the console of Linux", Colours: 16, ShiftEnter: Unsupported, Links: Unsupported, Clipboard: Unsupported, Focus: Unsupported, Notices: Bell}},
		{[]string{"TERM=tmux-256color", "TMUX=/tmp/x,1,0", "TERM_PROGRAM=tmux", "TERM_PROGRAM_VERSION=3.3a\x1b[2J"},
			Terminal{Name: "tmux-256color", Inside: "tmux 3.3a", Colours: 256, ShiftEnter: Unsupported, Links: Unsupported, Clipboard: Unsupported, Notices: Bell}},
		{[]string{"TERM=screen", "STY=1.x", "KITTY_WINDOW_ID=1"}, Terminal{Name: "kitty", Inside: "screen", Colours: 16, Notices: Bell}},
		{[]string{"TERM=something"}, Terminal{Name: "something", Colours: 16, ShiftEnter: Unsupported, Links: Unsupported, Clipboard: Unsupported, Notices: Bell}},
	}
	for _, tt := range tests {
		if got := Detect(vars(tt.env...)); got != tt.want {
			t.Errorf("%v:\ngot  %+v\nwant %+v", tt.env, got, tt.want)
		}
	}
}
