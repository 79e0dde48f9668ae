package commands

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTree checks that each item follows its parent and is indented.
//
// Proves AGENT-40.
func TestTree(t *testing.T) {
	tests := []struct{ items, want string }{
		{"", ""},
		{"a b c", "a b c"},
		{"a b<a c<b d", "a -b --c d"},
		{"c<b a b<a d<a", "a -b --c -d"},
		{"b<gone a", "b a"},
		{"a<a b<a", "a -b"},
	}
	for _, tt := range tests {
		if got := grown(strings.Fields(tt.items)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.items, got, tt.want)
		}
	}
}

func grown(items []string) string {
	id := func(s string) string { id, _, _ := strings.Cut(s, "<"); return id }
	parent := func(s string) string { _, parent, _ := strings.Cut(s, "<"); return parent }
	var got []string
	for _, b := range Tree(items, id, parent) {
		got = append(got, strings.Repeat("-", b.Depth)+id(b.Item))
	}
	return strings.Join(got, " ")
}

// TestTreeEnds checks that Tree terminates and contains no item twice, whichever parents the
// items name.
func TestTreeEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		items := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 10).Draw(rt, "parents")
		var list []string
		for i, p := range items {
			list = append(list, fmt.Sprintf("%d<%d", i, p))
		}
		if got := strings.Fields(grown(list)); len(got) > len(items) {
			rt.Errorf("%v: %v", list, got)
		}
	})
}
