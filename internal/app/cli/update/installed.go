package update

import (
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/term"
)

// A Manager is a package manager that owns an installation.
type Manager struct {
	Name   string
	Update string // the command that updates
}

// ManagedBy returns the package manager that installed a program, or nil. Packages contain a
// file that says so.
func ManagedBy(program string) *Manager {
	mark := filepath.Join(filepath.Dir(program), "..", "share", "adze", "package")
	if data, err := os.ReadFile(mark); err == nil && len(data) < 1000 {
		name, command, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
		return &Manager{term.Sanitize(name), term.Sanitize(command)}
	}
	if strings.HasPrefix(program, "/nix/store/") {
		return &Manager{"Nix", "nix profile upgrade adze"}
	}
	return nil
}
