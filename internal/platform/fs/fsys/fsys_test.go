package fsys

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// Proves SESS-10.
func TestProjectKey(t *testing.T) {
	long := "/" + strings.Repeat("abcdefghi/", 40) // 401 characters
	tests := []struct{ path, want string }{
		{"/", "-"},
		{"/home/u/adze", "-home-u-adze"},
		{"/home/u/my_app.v2", "-home-u-my-app-v2"},
		{`C:\Users\u`, "C--Users-u"},
		{"/src/grün", "-src-gr-n"},
		{"/" + strings.Repeat("x", 199), "-" + strings.Repeat("x", 199)},
		{"/" + strings.Repeat("x", 200), "-" + strings.Repeat("x", 199) + "-" + "8511a37c"},
		{long, "-" + strings.Repeat("abcdefghi-", 20)[:199] + "-" + "137fc2a0"},
	}
	for _, tt := range tests {
		if got := ProjectKey(tt.path); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.path, got, tt.want)
		}
	}
	if ProjectKey("/a/b") != ProjectKey("/a.b") {
		t.Error("these should look alike, or the next line proves nothing")
	}
	if HashedKey("/a/b") == HashedKey("/a.b") {
		t.Error("the hash does not separate paths that look alike")
	}
	if ProjectKey(long) == ProjectKey(long+"x") {
		t.Error("long paths with the same start have the same key")
	}
}

// Proves SESS-10.
func TestProjectKeyIsAName(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9-]{1,209}$`)
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.String().Draw(t, "path")
		for _, key := range []string{ProjectKey(path), HashedKey(path)} {
			if !valid.MatchString(key) {
				t.Fatalf("%q: key %q", path, key)
			}
		}
	})
}

// hasModes reports whether files have permissions for others. On Windows they have access control
// lists: see TestPrivate.
const hasModes = runtime.GOOS != "windows"

func TestWriteAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	for i, content := range []string{"one", "", "three", "four"} {
		write := WriteAtomic
		if i%2 == 1 {
			write = WriteUnsynced
		}
		if err := write(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("got %q, %v, want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || hasModes && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if diff := cmp.Diff([]string{"settings.json"}, names(t, dir)); diff != "" {
		t.Errorf("files left behind: %s", diff)
	}
}

func TestWriteAtomicThroughLink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.json")
	link := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(real); string(got) != "new" {
		t.Errorf("the file behind the link has %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
}

func TestWriteAtomicFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := WriteAtomic(path, []byte("x"), 0o600)
	if err == nil || !strings.Contains(err.Error(), "writing "+path) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"settings.json"}, names(t, dir)); diff != "" {
		t.Errorf("files left behind: %s", diff)
	}
	if err := WriteAtomic(filepath.Join(dir, "no", "such", "folder"), nil, 0o600); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

func TestMkdirPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := MkdirPrivate(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || hasModes && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v", d, info.Mode(), err)
		}
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
