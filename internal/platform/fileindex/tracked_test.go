package fileindex

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTracked(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	for _, name := range []string{"sub/a", "sub/b"} {
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "sub/a")
	for name, want := range map[string]bool{"sub/a": true, "sub/A": true, "sub/b": false, "none": false} {
		if got, err := Tracked(filepath.Join(dir, name)); err != nil || got != want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	if got, err := Tracked(filepath.Join(t.TempDir(), "x")); err != nil || got {
		t.Errorf("outside a repository: %t, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "index"), []byte("DIRC"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Tracked(filepath.Join(dir, "sub/b")); err == nil {
		t.Error("a damaged index tells nothing, but was believed")
	}
}
