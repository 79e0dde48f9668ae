//go:build unix

package paths

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Proves PATH-01, PATH-02, PATH-03, PERM-31.
func TestExpand(t *testing.T) {
	home := Base{Dir: "/work/dir", Home: "/home/me"}
	tests := []struct {
		name string
		base Base
		path string
		want string
		err  string
	}{
		{"relative", home, "src/a.go", "/work/dir/src/a.go", ""},
		{"absolute", home, "/etc/hosts", "/etc/hosts", ""},
		{"cleaned", home, "/a/./b//../c", "/a/c", ""},
		{"up", home, "../../../etc", "/etc", ""},
		{"outer spaces", home, " a.txt ", "/work/dir/a.txt", ""},
		{"home alone", home, "~", "/home/me", ""},
		{"home", home, "~/a", "/home/me/a", ""},
		{"home and up", home, "~/../x", "/home/x", ""},
		{"another user's home is a name", home, "~root/a", "/work/dir/~root/a", ""},
		{"not a drive here", home, "/c/dir/x", "/c/dir/x", ""},
		{"composed", home, "cafe\u0301", "/work/dir/caf\u00e9", ""},
		{"no home", Base{Dir: "/w"}, "~/a", "", "HOME is not set"},
		{"null byte", home, "a\x00b", "", "path contains a null byte"},
		{"null byte in the base", Base{Dir: "/w\x00"}, "a", "", "path contains a null byte"},
		{"empty", home, "   ", "", "the path is empty"},
		{"not UTF-8", home, "a\xff", "", `"a\xff"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.base.Expand(tt.path)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Expand(%q) = %q, %v, want error with %q", tt.path, got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("Expand(%q) = %q, %v, want %q", tt.path, got, err, tt.want)
			}
		})
	}
}

// Proves PATH-04.
func TestDriveForm(t *testing.T) {
	for path, want := range map[string]string{
		"/c/dir/x": `C:\dir\x`, "/D/": `D:\`, "/c": "/c", "/cc/x": "/cc/x", "/1/x": "/1/x", "c/d/e": "c/d/e",
	} {
		if got := driveForm(path); got != want {
			t.Errorf("driveForm(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestIsUNC(t *testing.T) {
	for path, want := range map[string]bool{
		`\\host\share\x`: true, "//host/share/x": true, " //host/x": true, "/a//b": false, "a": false, `a\\b`: false,
	} {
		if got := IsUNC(path); got != want {
			t.Errorf("IsUNC(%q) = %v", path, got)
		}
	}
}

func TestIsBlocked(t *testing.T) {
	blocked := []string{
		"/dev/zero", "/dev/random", "/dev/urandom", "/dev/full", "/dev/stdin", "/dev/tty", "/dev/console",
		"/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2",
		"/proc/self/fd/3", "/proc/self/environ", "/proc/1/mem", "/proc/self/task/7/environ", "/proc/kcore",
	}
	for _, path := range blocked {
		if !IsBlocked(path) {
			t.Errorf("%s may be read", path)
		}
	}
	for _, path := range []string{"/dev/null", "/proc/cpuinfo", "/proc/self/status", "/home/dev/zero", "zero", "/proc", "/dev/shm/x", "/proc/mem"} {
		if IsBlocked(path) {
			t.Errorf("%s may not be read", path)
		}
	}
}

func TestRelative(t *testing.T) {
	for path, want := range map[string]string{
		"/w/src/a.go": filepath.FromSlash("src/a.go"), "/w": ".", "/other/a": "/other/a", "/w..x": "/w..x", "/w/..x": "..x",
	} {
		if got := Relative("/w", path); got != want {
			t.Errorf("Relative(%q) = %q, want %q", path, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"a", "~/a", "/../..", " ", "a\x00", "~", "//x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got, err := Base{Dir: "/work", Home: "/home"}.Expand(path)
		if err != nil {
			return
		}
		if !filepath.IsAbs(got) || got != filepath.Clean(got) || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("Expand(%q) = %q", path, got)
		}
	})
}
