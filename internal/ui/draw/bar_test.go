package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
)

// TestBar checks that a bar shows every part that is not empty, follows its title if there is
// room, and has a legend.
//
// Proves CTX-18.
func TestBar(t *testing.T) {
	b := commands.Bar{
		Title: "50% of 10k",
		Parts: []commands.BarPart{{Name: "tools", Text: "4k", Size: 4000}, {Name: "tiny", Text: "1", Size: 1}, {Name: "none", Text: "0", Size: 0}, {Name: "talk", Text: "1k", Size: 999}},
		Rest:  commands.BarPart{Name: "free", Text: "5k", Size: 5000},
	}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Width: 33}, "50% of 10k  ████████▇▅▅▁▁▁▁▁▁▁▁▁▁\n█ tools 4k   ▇ tiny 1   ▆ none 0\n▅ talk 1k   ▁ free 5k"},
		{Options{Width: 20}, "50% of 10k\n████████▇▅▁▁▁▁▁▁▁▁▁▁\n█ tools 4k\n▇ tiny 1   ▆ none 0\n▅ talk 1k\n▁ free 5k"},
		{Options{Width: 33, Glyphs: ASCII()}, "50% of 10k  ########=%%..........\n# tools 4k   = tiny 1   + none 0\n% talk 1k   . free 5k"},
	} {
		if diff := cmp.Diff(tt.want, Palette{}.Text(Page(commands.Page{Blocks: []commands.Block{b}}, tt.o))); diff != "" {
			t.Error(diff)
		}
	}
	b.Rest, b.Parts[0].Size = commands.BarPart{}, 1<<40 // more than fits
	if rows := Page(commands.Page{Blocks: []commands.Block{b}}, Options{Width: 33}); rows[0].Width() > 33 {
		t.Errorf("%q", rows[0])
	}
}
