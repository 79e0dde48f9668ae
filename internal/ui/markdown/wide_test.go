package markdown

import (
	"strings"
	"testing"

	"adze/internal/ui/draw"
)

// TestTableWidth checks that a table may be wider than prose.
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

// TestDiffAndEntities checks that diff lines are colored, and that named characters are decoded
// except in code.
func TestDiffAndEntities(t *testing.T) {
	s := Stream{Width: 80}
	rows := append(s.Add("a &amp;&lt; b `&amp;` &#27;[2J\n```diff\n@@ -1 +1 @@\n-old\n+new\n```\n"), s.End()...)
	if got := (draw.Palette{}).Text(rows[:1]); got != "a &< b &amp; &#27;[2J" {
		t.Errorf("%q", got)
	}
	roles := map[string]draw.Role{}
	for _, row := range rows {
		if len(row) > 0 {
			roles[row[0].Text] = row[0].Role
		}
	}
	if roles["-old"] != draw.Removed || roles["+new"] != draw.Added {
		t.Errorf("%v", roles)
	}
}
