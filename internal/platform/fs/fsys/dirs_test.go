//go:build unix

package fsys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Proves SESS-10, X-201.
func TestFindDirs(t *testing.T) {
	const dot = "/home/u/.adze"
	all := func(dir string) [3]string { return [3]string{dir, dir, dir} }
	standard := [3]string{"/home/u/.config/adze", "/home/u/.local/state/adze", "/home/u/.cache/adze"}
	vars := func(pairs ...string) map[string]string {
		m := map[string]string{"HOME": "/home/u"}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, tt := range []struct {
		name   string
		system string
		vars   map[string]string
		old    bool // ~/.adze exists
		want   [3]string
	}{
		{"new", "linux", vars(), false, standard},
		{"new on BSD", "freebsd", vars(), false, standard},
		{"new on macOS", "darwin", vars(), false, all(dot)},
		{"new on Windows", "windows", vars(), false, all(dot)},
		{"variables on macOS", "darwin", vars("XDG_CONFIG_HOME", "/c"), false, [3]string{"/c/adze", standard[1], standard[2]}},
		{"state on Windows", "windows", vars("XDG_STATE_HOME", "/s"), false, [3]string{standard[0], "/s/adze", standard[2]}},
		{"a cache on macOS", "darwin", vars("XDG_CACHE_HOME", "/k"), false, all(dot)},
		{"old", "linux", vars(), true, all(dot)},
		{"old, and variables", "linux", vars("XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s"), true, all(dot)},
		{"old, but XDG is wanted", "linux", vars("ADZE_XDG", "1"), true, standard},
		{"XDG is wanted on macOS", "darwin", vars("ADZE_XDG", "true"), false, standard},
		{"XDG is not wanted", "linux", vars("ADZE_XDG", "0"), true, all(dot)},
		{"nonsense", "linux", vars("ADZE_XDG", "maybe"), true, all(dot)},
		{"all variables", "linux", vars("XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s/", "XDG_CACHE_HOME", "/k/../k"), false, [3]string{"/c/adze", "/s/adze", "/k/adze"}},
		{"relative variables", "linux", vars("XDG_CONFIG_HOME", "c", "XDG_STATE_HOME", "./s", "XDG_CACHE_HOME", "~/k"), false, standard},
		{"relative variables on macOS", "darwin", vars("XDG_CONFIG_HOME", "c", "XDG_STATE_HOME", "~"), false, all(dot)},
		{"empty variables", "linux", vars("XDG_CONFIG_HOME", "", "XDG_STATE_HOME", ""), false, standard},
		{"ADZE_HOME", "linux", vars("ADZE_HOME", "/data/adze"), false, all("/data/adze")},
		{"ADZE_HOME over all", "linux", vars("ADZE_HOME", "/data/adze", "ADZE_XDG", "1", "XDG_CONFIG_HOME", "/c"), true, all("/data/adze")},
		{"ADZE_HOME, not clean", "linux", map[string]string{"ADZE_HOME": "/data//x/../adze/"}, false, all("/data/adze")},
		{"tilde", "linux", vars("ADZE_HOME", "~/state"), false, all("/home/u/state")},
		{"tilde in a name", "linux", vars("ADZE_HOME", "/~x"), false, all("/~x")},
		{"no home", "linux", map[string]string{}, false, [3]string{}},
		{"home is not absolute", "linux", map[string]string{"HOME": "u"}, false, [3]string{}},
		{"no home, but variables", "linux", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, false, [3]string{"/c/adze", "/s/adze", "/s/adze"}},
		{"no home, one variable", "linux", map[string]string{"XDG_CONFIG_HOME": "/c"}, false, [3]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(name string) string { return tt.vars[name] }
			asked := 0
			exists := func(path string) bool {
				asked++
				return tt.old && filepath.ToSlash(path) == dot
			}
			got, err := findDirs(getenv, tt.system, exists)
			if tt.want == [3]string{} {
				if err == nil || !strings.Contains(err.Error(), "set ADZE_HOME to a folder") {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			dirs := [3]string{filepath.ToSlash(got.Config), filepath.ToSlash(got.Home), filepath.ToSlash(got.Cache)}
			if diff := cmp.Diff(tt.want, dirs); diff != "" {
				t.Error(diff)
			}
			if asked > 1 || got.Reason == "" {
				t.Errorf("looked %d times, reason %q", asked, got.Reason)
			}
			// A child process uses the same directories, even if others appear.
			var environ []string
			for name, value := range tt.vars {
				environ = append(environ, name+"="+value)
			}
			child := map[string]string{}
			for _, v := range got.Environ(environ) {
				name, value, _ := strings.Cut(v, "=")
				if _, ok := child[name]; ok {
					t.Errorf("a child has %s twice", name)
				}
				child[name] = value
			}
			again, err := findDirs(func(name string) string { return child[name] }, tt.system, func(string) bool { return !tt.old })
			if err != nil || again.Config != got.Config || again.Home != got.Home {
				t.Errorf("a child uses %+v, %v", again, err)
			}
		})
	}
	t.Chdir(t.TempDir())
	if got, err := FindDirs(env(map[string]string{"ADZE_HOME": "state"})); err != nil || !filepath.IsAbs(got.Home) {
		t.Errorf("relative ADZE_HOME: got %s, %v", got.Home, err)
	}
}

// TestDirsAreKept checks that a process keeps its directories when ~/.adze appears, which the
// next one then uses and warns of, and that a project in the home directory does not make it.
//
// Proves X-201.
func TestDirsAreKept(t *testing.T) {
	home := t.TempDir()
	getenv := env(map[string]string{"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state")})
	dot := filepath.Join(home, ".adze")
	find := func() Dirs {
		t.Helper()
		d, err := FindDirs(getenv)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := find()
	if !d.Split() || d.Notice() != "" || len(d.All()) != 3 || !cmp.Equal(d.Protected(), append(d.All(), dot)) {
		t.Fatalf("%+v, notice %q", d, d.Notice())
	}
	link := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(home, link); err != nil {
		t.Skip(err)
	}
	for root, want := range map[string]string{home: d.Config, link: d.Config, filepath.Join(home, "work"): filepath.Join(home, "work", ".adze")} {
		if got := d.In(root); got != want {
			t.Errorf("in %s: %s, want %s", root, got, want)
		}
	}
	for _, dir := range append(d.All(), dot) {
		if err := MkdirPrivate(dir); err != nil {
			t.Fatal(err)
		}
	}
	if again := find(); !cmp.Equal(again.All(), d.All()) {
		t.Errorf("later in this process: %+v", again)
	}
	next, err := findDirs(getenv, "linux", func(path string) bool { return IsDir(path) })
	if err != nil || next.Split() || next.Home != dot || next.In(home) != dot {
		t.Errorf("the next process: %+v, %v", next, err)
	}
	if got := next.Notice(); !strings.Contains(got, d.Config+" and "+d.Home+" are not used, because "+dot+" exists") {
		t.Errorf("notice %q", got)
	}
	if diff := cmp.Diff(append(next.All(), d.Config, d.Home), next.Protected()); diff != "" {
		t.Error(diff)
	}
	// Directories that are the same by a link do not conflict.
	if err := os.RemoveAll(dot); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(d.Config, dot); err != nil {
		t.Fatal(err)
	}
	if got := next.Unused(); !cmp.Equal(got, []string{d.Home}) {
		t.Errorf("unused %q", got)
	}
}
