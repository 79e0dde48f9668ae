package osproc

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// A Shell runs the command lines of settings, such as credential helpers and hooks.
type Shell struct{ Path string }

// FindShell returns the first of the named shells that lookPath finds, by default the first of
// [SystemShells].
func FindShell(lookPath func(name string) (string, error), names ...string) (Shell, error) {
	if len(names) == 0 {
		names = SystemShells(runtime.GOOS)
	}
	for _, name := range names {
		if path, err := lookPath(name); err == nil {
			return Shell{path}, nil
		}
	}
	return Shell{}, fmt.Errorf("%w: add %s to PATH", ErrNoShell, strings.Join(names, " or "))
}

// ErrNoShell means that no shell was found.
var ErrNoShell = errors.New("no shell was found")

// SystemShells returns the names of the shells of an operating system, the preferred one first.
// On Windows, sh is part of Git, and PowerShell of the system.
func SystemShells(system string) []string {
	if system == "windows" {
		return []string{"sh", "pwsh", "powershell"}
	}
	return []string{"sh"}
}

// IsPowerShell reports whether the shell is PowerShell or Windows PowerShell.
func (s Shell) IsPowerShell() bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Path)), ".exe")
	return base == "pwsh" || base == "powershell"
}

// Args returns the arguments that make the shell run a command line.
func (s Shell) Args(line string) []string {
	if s.IsPowerShell() {
		return []string{"-NoProfile", "-NonInteractive", "-Command", line}
	}
	return []string{"-c", line}
}
