package markdown

import (
	"strings"
	"testing"

	"adze/internal/ui/draw"
)

// A table may be wider than prose.
func TestTableWidth(t *testing.T) {
	cell := strings.Repeat("x", 60)
	text := "|a|b|\n|-|-|\n|" + cell + "|" + cell + "|\n"
	for _, tables := range []int{0, 150} {
		s := Stream{Width: 96, Tables: tables}
		got := draw.Palette{}.Text(append(s.Add(text), s.End()...))
		if aligned := strings.Contains(got, cell+"  "+cell); aligned != (tables > 0) {
			t.Errorf("in %d cells:\n%s", tables, got)
		}
	}
}
