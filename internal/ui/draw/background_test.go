package draw

import "testing"

// TestReadBackground checks that replies of terminals are understood and anything else is
// ignored.
//
// Proves X-124.
func TestReadBackground(t *testing.T) {
	for reply, want := range map[string]Background{
		"11;rgb:0000/0000/0000": DarkBackground, "11;rgb:1a1a/1b1b/2626": DarkBackground, "11;rgb:00/2b/36": DarkBackground, "11;rgb:0/0/0": DarkBackground,
		"11;rgb:ffff/ffff/ffff": LightBackground, "11;rgb:fdfd/f6f6/e3e3": LightBackground, "11;#fff": LightBackground, "11;#fafafa": LightBackground,
		"11;rgba:ffff/ffff/ffff/8000": LightBackground, "11;rgb:8080/8080/8080": UnknownBackground, "11;rgb:f/f/f": LightBackground,
	} {
		if got, ok := ReadBackground(reply); !ok || got != want {
			t.Errorf("%s: %d, %v", reply, got, ok)
		}
	}
	for _, reply := range []string{
		"", "11", "11;", "11;?", "10;rgb:0000/0000/0000", "11;rgb:", "11;rgb:00/00", "11;rgb:gg/00/00", "11;rgb:00000/0000/0000", "11;rgb:-1/00/00", "11;#", "11;#12345",
		"11;rgb:0000/0000/0000/0000/0000", "11;rgb:+f/00/00", "11;black", "11;#ffffffffffffffffffffffffffffffffffffffffffffffff",
	} {
		if got, ok := ReadBackground(reply); ok {
			t.Errorf("%q: %d", reply, got)
		}
	}
}

// TestAutoTheme checks that the default theme follows the background if the terminal has 256
// colors.
//
// Proves X-124.
func TestAutoTheme(t *testing.T) {
	row := Row{{Role: Accent, Text: "a"}}
	for _, tt := range []struct {
		on   Background
		env  []string
		want string
	}{
		{UnknownBackground, []string{"COLORTERM=truecolor"}, "\x1b[36ma\x1b[0m"},
		{DarkBackground, []string{"COLORTERM=truecolor"}, "\x1b[38;2;125;207;255ma\x1b[0m"},
		{LightBackground, []string{"COLORTERM=truecolor"}, "\x1b[38;2;5;80;174ma\x1b[0m"},
		{DarkBackground, []string{"TERM=xterm-256color"}, "\x1b[38;5;117ma\x1b[0m"},
		{DarkBackground, []string{"TERM=xterm"}, "\x1b[36ma\x1b[0m"},
		{DarkBackground, []string{"TERM=linux", "COLORTERM=truecolor"}, "\x1b[36ma\x1b[0m"},
		{DarkBackground, []string{"TERM=xterm-256color", "NO_COLOR=1"}, "\x1b[1ma\x1b[0m"},
		{DarkBackground, []string{"TERM=dumb", "COLORTERM=truecolor"}, "a"},
	} {
		if got := PaletteOn(tt.on, AutoTheme, env(tt.env...)).Paint(row); got != tt.want {
			t.Errorf("%d %v: %q", tt.on, tt.env, got)
		}
	}
	for value, want := range map[string]Background{"15;0": DarkBackground, "0;15": LightBackground, "0;7": LightBackground, "7;8": DarkBackground, "15;default;0": DarkBackground, "": 0, "0;default": 0, "0;-1": 0, "x": 0} {
		if got := BackgroundFor(env("COLORFGBG=" + value)); got != want {
			t.Errorf("%q: %d", value, got)
		}
	}
	if got := PaletteFor(true, AutoTheme, env("TERM=xterm-256color", "COLORFGBG=0;15")).Paint(row); got != "\x1b[38;5;25ma\x1b[0m" {
		t.Errorf("COLORFGBG: %q", got)
	}
	emphasis := Row{{Role: Emphasis, Text: "a"}}
	for kind, want := range map[string]string{"xterm": "\x1b[3ma\x1b[0m", "tmux-256color": "\x1b[3ma\x1b[0m", "linux": "\x1b[4ma\x1b[0m", "screen-256color": "\x1b[4ma\x1b[0m"} {
		if got := PaletteFor(true, AutoTheme, env("TERM="+kind)).Paint(emphasis); got != want {
			t.Errorf("emphasis with %s: %q", kind, got)
		}
	}
}

// FuzzReadBackground checks that no reply is misread.
func FuzzReadBackground(f *testing.F) {
	for _, reply := range []string{"11;rgb:1e1e/1e1e/1e1e", "11;#ffffff", "11;rgba:0/0/0/0", "11;", "52;c;", "11;rgb:////"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if b, ok := ReadBackground(reply); b > LightBackground || !ok && b != UnknownBackground {
			t.Errorf("%d, %v", b, ok)
		}
	})
}
