//go:build !windows

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstalled(t *testing.T) {
	vars := map[string]string{"HOME": "/home/u", "GOBIN": "/opt/gobin"}
	for path, want := range map[string]string{
		"/opt/homebrew/Cellar/adze/1/bin/adze": "Homebrew", "/nix/store/abc-adze/bin/adze": "Nix", "/home/u/go/bin/adze": "go install", "/opt/gobin/adze": "go install",
		"/usr/bin/adze": "the system", "/usr/lib/node_modules/adze/adze": "npm", "/home/u/.local/bin/adze": "a single file",
	} {
		if got := installed(path, func(name string) string { return vars[name] }); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestInstallation checks that another program of the same name earlier in the path is
// reported.
func TestInstallation(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "adze")
	if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	c := fine(t, map[string]string{})
	c.Program = filepath.Join(t.TempDir(), "adze")
	if got := c.installation(); len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "adze on PATH is another program: "+other) {
		t.Error(got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := c.installation(); len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "is not on PATH") {
		t.Error(got)
	}
}
