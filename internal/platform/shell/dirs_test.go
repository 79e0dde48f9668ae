package shell

import (
	"fmt"
	"testing"
)

// TestUnknownDirectories checks that an unknown directory is not treated as a known one: nil is
// the set of all.
//
// Proves PERM-37.
func TestUnknownDirectories(t *testing.T) {
	many := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
	for _, tt := range []struct{ a, b, want []string }{
		{nil, []string{"a"}, nil}, {[]string{"a"}, nil, nil}, {[]string{"a"}, []string{"b", "a"}, []string{"a", "b"}},
		{many, []string{"8"}, many}, {many, []string{"9"}, nil},
	} {
		if got := union(tt.a, tt.b); fmt.Sprint(got) != fmt.Sprint(tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%v and %v: %v", tt.a, tt.b, got)
		}
	}
	if after := Parse("cd a", Vars{}).Parts[0].moves(nil); after.ok != nil || after.failed != nil {
		t.Errorf("cd a leads from nowhere to %v", after)
	}
	for line, known := range map[string]bool{
		"cd a": true, "cd a && cd b": true, "cd $x && cd a": false, "cd a && cd -": false, "pushd a && popd": false, "cd $x || cd a": false,
		"cd a; cd $x; cd b": false,
	} {
		dirs := []string{"/work"}
		for _, p := range Parse(line, Vars{Home: "/home/u"}).Parts {
			dirs = p.moves(dirs).either()
		}
		if (dirs != nil) != known {
			t.Errorf("after %q the shell is in %v", line, dirs)
		}
	}
}
