package osproc

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// TestFindShell checks which shell runs the command lines of settings, and how.
func TestFindShell(t *testing.T) {
	installed := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(names, name) {
				return "/bin/" + name + ".exe", nil
			}
			return "", fs.ErrNotExist
		}
	}
	windows := SystemShells("windows")
	for _, c := range []struct {
		installed []string
		names     []string
		want      string
	}{
		{[]string{"sh", "bash"}, SystemShells("linux"), "/bin/sh.exe -c echo hi"},
		{[]string{"powershell", "pwsh", "sh"}, windows, "/bin/sh.exe -c echo hi"},
		{[]string{"powershell", "pwsh"}, windows, "/bin/pwsh.exe -NoProfile -NonInteractive -Command echo hi"},
		{[]string{"powershell"}, windows, "/bin/powershell.exe -NoProfile -NonInteractive -Command echo hi"},
	} {
		got, err := FindShell(installed(c.installed...), c.names...)
		if line := strings.Join(append([]string{got.Path}, got.Args("echo hi")...), " "); err != nil || line != c.want {
			t.Errorf("with %q: %q, %v, want %q", c.installed, line, err, c.want)
		}
	}
	if _, err := FindShell(installed(), windows...); err == nil || !errors.Is(err, ErrNoShell) || !strings.Contains(err.Error(), "add sh or pwsh or powershell to PATH") {
		t.Errorf("without any: %v", err)
	}
}
