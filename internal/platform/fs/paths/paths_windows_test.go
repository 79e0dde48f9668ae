package paths

import "testing"

// TestExpandOnWindows checks paths with drives, shares and roots.
//
// Proves PATH-04.
func TestExpandOnWindows(t *testing.T) {
	for _, c := range []struct{ dir, path, want string }{
		{`C:\work`, `a\b`, `C:\work\a\b`},
		{`C:\work`, `a/b`, `C:\work\a\b`},
		{`C:\work`, `D:\x`, `D:\x`},
		{`C:\work`, `d:/x/../y`, `d:\y`},
		{`C:\work`, `/d/x`, `D:\x`},
		{`D:\work`, `\tmp\x`, `D:\tmp\x`},
		{`D:\work`, `/tmp/x`, `D:\tmp\x`},
		{`\\host\share\work`, `\tmp\x`, `\\host\share\tmp\x`},
		{`C:\work`, `\\host\share\x`, `\\host\share\x`},
		{`C:\work`, `~\x`, `C:\home\x`},
		{`C:\work`, `~/x`, `C:\home\x`},
		{`C:\work`, `C:x`, ""},
		{`C:\work`, `D:`, ""},
	} {
		got, err := Base{Dir: c.dir, Home: `C:\home`}.Expand(c.path)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s in %s: %q, %v, want %q", c.path, c.dir, got, err, c.want)
		}
	}
}
