package toolname

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/msg"
)

// TestNamesMapBack checks that arbitrary names map back uniquely.
//
// Proves PROV-13.
func TestNamesMapBack(t *testing.T) {
	name := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[a-zA-Z0-9_-]{1,140}`), rapid.StringMatching(`mcp__[a-z.]{1,60}__[a-z/ ]{1,60}`),
		rapid.Map(rapid.String(), Restrict), // a server may use names that look restricted
	)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(name, 1, 12, rapid.ID).Draw(t, "names")
		var tools []msg.ToolSpec
		taken := map[string]string{}
		for _, n := range names {
			tools = append(tools, msg.ToolSpec{Name: n})
			short := Restrict(n)
			if !fits(short) {
				t.Fatalf("%q becomes %q", n, short)
			}
			if other, ok := taken[short]; ok {
				t.Fatalf("%q and %q both become %q", n, other, short)
			}
			taken[short] = n
		}
		for short, n := range taken {
			if got := Original(tools, short); got != n {
				t.Fatalf("%q became %q, which stands for %q", n, short, got)
			}
		}
	})
}

func TestRestrict(t *testing.T) {
	long := strings.Repeat("n", 128)
	for name, keeps := range map[string]bool{"Read": true, "mcp__a__b-1": true, long[:64]: true, long[:65]: false, "a.b": false, "": false, "ä": false} {
		if got := Restrict(name); (got == name) != keeps || !fits(got) {
			t.Errorf("%q becomes %q", name, got)
		}
	}
	if got := Original(nil, "Gone_0123456789abcdef0123"); got != "Gone_0123456789abcdef0123" {
		t.Errorf("a name that stands for nothing becomes %q", got)
	}
}
