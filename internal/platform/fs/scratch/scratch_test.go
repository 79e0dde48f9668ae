package scratch

import (
	"os"
	"path/filepath"
	"testing"
)

// Proves PERM-43.
func TestDir(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(path string) error // sets up the initial state
		ok      bool
		stays   bool // remains after Close
	}{
		{"nothing there", func(string) error { return nil }, true, false},
		{"there already", func(path string) error { return os.MkdirAll(path, 0o700) }, true, false},
		{"not empty", func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) }, true, true},
		{"open to others", func(path string) error { return os.MkdirAll(path, 0o755) }, false, true},
		{"a link", func(path string) error {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(path), path)
		}, false, true},
		{"a file", func(path string) error {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		}, false, true},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "scratch", "s1")
		if err := tt.prepare(path); err != nil {
			t.Fatal(err)
		}
		ready, failed := 0, 0
		d := New(path, func() { ready++ }, func(error) { failed++ })
		if d.Made() != "" || ready+failed > 0 {
			t.Errorf("%s: made too early", tt.name)
		}
		d.Path()
		if got := d.Path(); (got != "") != tt.ok || d.Made() != got || (ready == 1) != tt.ok || ready+failed != 1 {
			t.Errorf("%s: %q, ready %d, failed %d", tt.name, got, ready, failed)
		}
		if info, err := os.Stat(d.Path()); tt.ok && (err != nil || info.Mode().Perm() != 0o700) {
			t.Errorf("%s: %v, %v", tt.name, info, err)
		}
		d.Close()
		if _, err := os.Lstat(path); (err == nil) != tt.stays {
			t.Errorf("%s: after Close: %v", tt.name, err)
		}
	}
	if none := (*Dir)(nil); none.Path() != "" || none.Made() != "" {
		t.Error("a missing directory has a path")
	}
}
