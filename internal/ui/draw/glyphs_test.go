package draw

import (
	"strings"
	"testing"

	"adze/internal/platform/term/cells"
)

// TestGlyphsFor checks that the glyphs are ASCII without a UTF-8 locale.
//
// Proves X-124.
func TestGlyphsFor(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want Glyphs
	}{
		{nil, ASCII()},
		{map[string]string{"LANG": "C"}, ASCII()},
		{map[string]string{"LANG": "en_US.UTF-8"}, Unicode()},
		{map[string]string{"LANG": "de_DE.utf8", "LC_CTYPE": "de_DE.ISO-8859-1"}, ASCII()},
		{map[string]string{"LANG": "C", "LC_ALL": "C.UTF-8"}, Unicode()},
		{map[string]string{"LANG": "ja_JP.UTF-8"}, eastAsian()},
	} {
		if got := GlyphsFor(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
	for _, g := range []Glyphs{Unicode(), eastAsian()} {
		for _, s := range []string{g.Active, g.Open, g.Done, g.Failed, g.Prompt, g.More, g.Dot, g.Bullet, g.Unchecked, g.Checked, g.Rule, g.Bar, g.Mark, g.Top, g.Bottom, g.Ellipsis, g.State, g.Full, g.Free, g.Tee, g.Corner} {
			if cells.Width(s) != 1 {
				t.Errorf("%q takes %d cells", s, cells.Width(s))
			}
		}
	}
	for _, g := range []Glyphs{Unicode(), eastAsian(), ASCII()} {
		if n := len([]rune(g.Spinner)); cells.Width(g.Spinner) != n || n < 4 {
			t.Errorf("%q takes %d cells", g.Spinner, cells.Width(g.Spinner))
		}
	}
	// These characters take two cells in some East Asian terminals.
	east := eastAsian()
	for _, s := range []string{east.Bullet, east.Rule, east.Bar, east.Mark, east.Top, east.Bottom, east.Ellipsis, east.State, east.Full, east.Free, east.Branch, east.Received, east.Spinner, east.Tee, east.Corner} {
		if strings.ContainsAny(s, "•─│▌╭╰…●↓├└") {
			t.Errorf("%q has an ambiguous width", s)
		}
	}
}
