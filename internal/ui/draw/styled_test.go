package draw

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Proves X-125.
func TestStyled(t *testing.T) {
	tests := []struct{ line, want string }{
		{"plain", "plain"},
		{"\x1b[32mmain\x1b[0m dirty", "<32>main<0> dirty"},
		{"\x1b[1m\x1b[38;5;208mx\x1b[my", "<1;38;5;208>x<0>y"},
		{"\x1b[38;2;1;2;3;4mx", "<38;2;1;2;3;4>x<0>"},
		{"\x1b[5;8mhidden\x1b[0m", "hidden"},
		{"\x1b[38;5mx", "x"},
		{"\x1b[31", ""},
		{"\x1b[2J\x1b[Hx\x1b]0;title\a\x1b[33my\r", "x<33>y<0>"},
		{"a\tb\nc", "a    b c"},
		{strings.Repeat("\x1b[1m", 100) + "x", "<1;1;1;1;1;1;1;1>x<0>"},
		{"\x1b[" + strings.Repeat("9", 5000) + "mx", "x"},
	}
	palette := PaletteFor(true, AutoTheme, env("TERM=xterm"))
	for _, tt := range tests {
		row := Styled(tt.line)
		got := regexp.MustCompile(`\x1b\[([0-9;]*)m`).ReplaceAllString(palette.Paint(row), "<$1>")
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.line, got, tt.want)
		}
		if got, want := (Palette{}).Paint(row), row.String(); got != want {
			t.Errorf("%q: %q without colours, want %q", tt.line, got, want)
		}
	}
}

// TestStyledIsSafe checks that only style sequences survive, and that each style ends with its
// text.
//
// Proves X-125.
func TestStyledIsSafe(t *testing.T) {
	styled := regexp.MustCompile(`\x1b\[[0-9;]+m[^\x1b]*\x1b\[0m`)
	palette := PaletteFor(true, "dark", env("TERM=xterm"))
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOf(rapid.SampledFrom([]rune("ab\x1b\x1b[[;013458m]\\\a\x9b\x9d\n\rJH?é"))).Draw(t, "line")
		if left := styled.ReplaceAllString(palette.Paint(Styled(line)), ""); strings.ContainsAny(left, "\x1b\a\r\n\u009b\u009d") {
			t.Errorf("%q leaves %q", line, left)
		}
	})
}

// Proves X-124.
func TestSample(t *testing.T) {
	palette := PaletteFor(true, AutoTheme, env("TERM=xterm", "COLORTERM=truecolor"))
	for theme, want := range map[string]string{
		"light": "\x1b[38;2;5;80;174maccent\x1b[0m \x1b[38;2;17;99;41m+added\x1b[0m ", AutoTheme: "\x1b[36maccent\x1b[0m \x1b[32m+added\x1b[0m ", "none": "accent +added -removed ",
	} {
		if got := palette.Paint(Sample(theme)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", theme, got)
		}
	}
	if got := PaletteFor(true, "none", env("TERM=xterm")).Paint(Sample("dark")); strings.Contains(got, "\x1b") {
		t.Errorf("unexpected colours: %q", got)
	}
}
