package paths

import "testing"

// Proves PATH-07.
func TestOddSpellings(t *testing.T) {
	windows, wsl, linux := system{windows: true}, system{wsl: true}, system{}
	tests := []struct {
		path string
		part string // empty if nothing is odd
	}{
		{`C:\dir\file.txt`, ""}, {`dir\.git\..\x`, ""}, {"a~b", ""}, {"console.log", ""}, {"COM0", ""}, {"COM10", ""}, {"..x", ""},
		{`a.txt:hidden`, "a.txt:hidden"}, {`C:\x\a:$DATA\b`, "a:$DATA"},
		{`C:\PROGRA~1\x`, "PROGRA~1"}, {"long~2.txt", "long~2.txt"},
		{`\\?\C:\x`, `\\?\`}, {`\\.\pipe\x`, `\\.\`}, {"//?/C:/x", `\\?\`},
		{"dir./x", "dir."}, {`dir \x`, "dir "}, {"a/.../b", "..."}, {"....", "...."},
		{"nul", "nul"}, {"NUL.txt", "NUL.txt"}, {"x/Aux", "Aux"}, {"con .txt", "con .txt"}, {"lpt9.tar.gz", "lpt9.tar.gz"}, {"COM1", "COM1"}, {"prn", "prn"},
	}
	part := func(o *Oddity) string {
		if o == nil {
			return ""
		}
		if o.Why == "" {
			t.Errorf("%s is odd without a reason", o.Part)
		}
		return o.Part
	}
	for _, tt := range tests {
		if got := part(odd(windows, tt.path, tt.path)); got != tt.part {
			t.Errorf("on Windows: odd(%s) = %q, want %q", tt.path, got, tt.part)
		}
		if got := part(odd(wsl, tt.path, "/mnt/c/x")); got != tt.part {
			t.Errorf("on a drive under WSL: odd(%s) = %q, want %q", tt.path, got, tt.part)
		}
		for sys, absolute := range map[system]string{wsl: "/home/me/x", linux: "/mnt/c/x"} {
			if got := odd(sys, tt.path, absolute); got != nil {
				t.Errorf("elsewhere: odd(%s) = %v", tt.path, got)
			}
		}
	}
}

// Proves PATH-03.
func TestAnotherUsersHomeIsOdd(t *testing.T) {
	for path, want := range map[string]bool{"~root/x": true, "~root": true, " ~a": true, "~": false, "~/x": false, "a~b": false, "/~root": false} {
		if got := odd(system{}, path, "/w/x") != nil; got != want {
			t.Errorf("odd(%s) = %v", path, got)
		}
	}
}
