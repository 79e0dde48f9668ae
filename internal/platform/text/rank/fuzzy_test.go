package rank

import (
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		want        Rank
	}{
		{"config", "", Prefix},
		{"", "", Exact},
		{"config", "CONFIG", Exact},
		{"config", "con", Prefix},
		{"config", "configs", 0},
		{"add-dir", "dir", Words},
		{"add-dir", "ad", Prefix},
		{"add-dir", "addir", Words},
		{"add-dir", "add-di", Prefix},
		{"team:deploy-web", "td", Words},
		{"team:deploy-web", "te:de", Words},
		{"team:deploy-web", "dw", Words},
		{"team:deploy-web", "deploy-w", Words},
		{"team:deploy-web", "tw", Words},
		{"team:deploy-web", "wd", 0},
		{"team:deploy-web", "eploy", Within},
		{"team:deploy-web", "tmw", Scattered},
		{"effort", "ffor", Within},
		{"effort", "ert", Scattered},
		{"effort", "tre", 0},
		{"a-a-a-a-a-a-a-a", "aaaab", 0},
		{"größe", "grö", Prefix},
		{strings.Repeat("a", 100), strings.Repeat("a", 80), Prefix},
		{"b" + strings.Repeat("a", 100), strings.Repeat("a", 80), 0},
	} {
		if got := Match(tt.name, tt.typed); got != tt.want {
			t.Errorf("Match(%q, %q) = %d, not %d", tt.name, tt.typed, got, tt.want)
		}
	}
}

func TestPositions(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		want        []int
	}{
		{"effort", "eff", []int{0, 1, 2}},
		{"team:deploy-web", "tdw", []int{0, 5, 12}},
		{"team:deploy-web", "te:de", []int{0, 1, 4, 5, 6}},
		{"aa-ab", "aab", []int{0, 3, 4}},
		{"effort", "for", []int{2, 3, 4}},
		{"effort", "ert", []int{0, 4, 5}},
		{"effort", "x", nil},
	} {
		if got := Positions(tt.name, tt.typed); !slices.Equal(got, tt.want) {
			t.Errorf("Positions(%q, %q) = %v, not %v", tt.name, tt.typed, got, tt.want)
		}
	}
}

// TestMatchIsBounded checks that matching takes time linear in the length of the name.
func TestMatchIsBounded(t *testing.T) {
	name := strings.Repeat("a-", 1<<16)
	if got := Match(name, strings.Repeat("a", 62)+"b"); got != 0 {
		t.Error(got)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("team:deploy-web", "td")
	f.Add("a-a", "aa")
	f.Fuzz(func(t *testing.T, name, typed string) {
		got := Match(name, typed)
		if (got >= Prefix) != (len(name) >= len(typed) && equalFold(name[:len(typed)], typed)) {
			t.Errorf("Match(%q, %q) = %d", name, typed, got)
		}
		if got > 0 && len(typed) > len(name) {
			t.Errorf("%q has all of %q", name, typed)
		}
		at := Positions(name, typed)
		if len(name) <= maxShown && got > 0 != (at != nil || typed == "") || at != nil && len(at) != len(typed) {
			t.Errorf("Positions(%q, %q) = %v", name, typed, at)
		}
		for i, n := range at {
			if lower(name[n]) != lower(typed[i]) || i > 0 && n <= at[i-1] {
				t.Errorf("Positions(%q, %q) = %v", name, typed, at)
			}
		}
	})
}

func equalFold(a, b string) bool { return len(a) == len(b) && common(a, b) == len(a) }
