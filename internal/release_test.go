//go:build unix

package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRelease builds a version for this platform with the script that makes releases.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	release := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "../scripts/release", args...).CombinedOutput()
		return string(out), err
	}
	if out, err := release("latest"); err == nil || !strings.Contains(out, "usage:") {
		t.Errorf("a version of another form: %v\n%s", err, out)
	}
	if out, err := release("7.8.9-rc.1", dir, runtime.GOOS+"/"+runtime.GOARCH); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	name := "adze-7.8.9-rc.1-" + runtime.GOOS + "-" + runtime.GOARCH
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, name), "--version").Output()
	if err != nil || string(out) != "7.8.9-rc.1 (adze)\n" {
		t.Errorf("--version prints %q, %v", out, err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil || !strings.HasSuffix(string(sums), "  "+name+"\n") {
		t.Errorf("SHA256SUMS: %q, %v", sums, err)
	}
}
