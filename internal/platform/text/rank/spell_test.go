package rank

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestClosest(t *testing.T) {
	tools := []string{"Read", "Edit", "Bash", "Write", "Glob", "Grep", "TaskCreate", "TaskList"}
	tests := []struct {
		name, word string
		n          int
		want       []string
	}{
		{"one letter off", "Reed", 1, []string{"Read"}},
		{"case does not count", "read", 3, []string{"Read"}},
		{"neighbours swapped", "Wriet", 1, []string{"Write"}},
		{"beginning", "Task", 3, []string{"TaskList", "TaskCreate"}},
		{"nothing near", "Kubernetes", 3, nil},
		{"empty", "", 3, nil},
		{"at most n", "Gre", 1, []string{"Grep"}},
		{"very long", strings.Repeat("x", 1<<20), 3, nil},
		{"none wanted", "Read", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Closest(tt.word, tools, tt.n)); diff != "" {
				t.Errorf("Closest(%.20q) (-want +got):\n%s", tt.word, diff)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"äb", "ab", 1},
	}
	for _, tt := range tests {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{0,8}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if x, y := Distance(a, b), Distance(b, a); x != y || (x == 0) != (a == b) {
			t.Fatalf("Distance(%q, %q) = %d, reversed %d", a, b, x, y)
		}
	})
}
