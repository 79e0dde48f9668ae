//go:build unix

package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestRelease builds a version for this platform with the release script.
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
	if err != nil || !regexp.MustCompile(`^7\.8\.9-rc\.1(\+[0-9a-f]{12}(\.modified)?)? \(adze\)\n$`).Match(out) {
		t.Errorf("--version prints %q, %v", out, err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil || !strings.Contains(string(sums), "  "+name+"\n") || !strings.HasSuffix(string(sums), "  adze-7.8.9-rc.1.1\n") {
		t.Errorf("SHA256SUMS: %q, %v", sums, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "adze-7.8.9-rc.1.1"))
	if err != nil || !strings.HasPrefix(string(page), `.TH ADZE 1 "" "adze 7.8.9\-rc.1"`) {
		t.Errorf("the manual page: %.60q, %v", page, err)
	}
}
