package plugin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestQuickIsUsual checks that the quick and the slow path return the same for files,
// directories, symlinks and special files, and nothing from outside the directory.
func TestQuickIsUsual(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "bundle")
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("../secret.json", "secret")
	write("a/b.json", "{}")
	write("empty", "")
	write("large", "0123456789")
	for name, target := range map[string]string{
		"link": "a/b.json", "folder": "a", "out": "../secret.json", "away": "..", "absolute": filepath.Join(dir, "empty"), "nowhere": "none", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	quick, err := openInstalled(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer quick.close()
	usual, err := openBundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer usual.close()
	for _, name := range []string{
		"a/b.json", "empty", "large", "link", "folder/b.json", "out", "away/secret.json", "absolute", "nowhere", "loop", "none", "a/none", "a", "empty/x", "../secret.json",
	} {
		got, err := quick.read(name, 8)
		want, wantErr := usual.read(name, 8)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !bytes.Equal(got.data, want.data) || got.stamp != want.stamp {
			t.Errorf("%s: quickly %q, %v, %v; else %q, %v, %v", name, got.data, got.stamp, err, want.data, want.stamp, wantErr)
		}
		if bytes.Contains(got.data, []byte("secret")) {
			t.Errorf("%s leads out of the folder", name)
		}
	}
	for _, name := range []string{"a", "empty", "folder", "away", "link", "nowhere", "loop", "none"} {
		got, err := quick.isDir(name)
		want, wantErr := usual.isDir(name)
		if got != want || (err == nil) != (wantErr == nil) || os.IsNotExist(err) != os.IsNotExist(wantErr) {
			t.Errorf("%s: quickly %v, %v; else %v, %v", name, got, err, want, wantErr)
		}
	}
	if _, err := openInstalled(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a folder that is gone: %v", err)
	}
}
