//go:build unix

package library

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipe checks that a named pipe in place of a file does not block, and that system errors
// are reported.
//
// Proves SKILL-03.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"s/x/y": "", "c/y.md": "y", "s/" + strings.Repeat("n", 200) + "/SKILL.md": "x"})
	for _, name := range []string{"s/x/SKILL.md", "c/pipe.md"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "/dev/zero", filepath.Join(dir, "s", "device", "SKILL.md"))
	link(t, filepath.Join(dir, "s", "x", "SKILL.md"), filepath.Join(dir, "index"))
	s := open(t, Config{Roots: fixed(user(filepath.Join(dir, "s")), commands(filepath.Join(dir, "c"))), Index: filepath.Join(dir, "index")}).Set(t.Context())
	p := problems(dir, s)
	if names(s) != "y" || len(p) != 4 {
		t.Errorf("%s, %v", names(s), p)
	}
	for _, file := range []string{"s/x/SKILL.md", "c/pipe.md", "s/device/SKILL.md"} {
		if p[file] != "it is not a regular file" {
			t.Errorf("%s: %s", file, p[file])
		}
	}
	y := s.Find("y")
	if err := os.Remove(y.File); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(y.File, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := y.Text(t.Context()); err == nil || !strings.Contains(err.Error(), "no longer a regular file") {
		t.Error(err)
	}
}
