//go:build !linux && !darwin

package jail

import (
	"errors"
	"os/exec"
)

var errNone = errors.New("no jails on this system")

// Check returns nil if the kernel can enforce jails, or an error with the reason it cannot.
func Check() error { return errNone }

// Warm does nothing on this system.
func Warm() {}

// Detail names the mechanisms that enforce jails on this system.
func Detail() string { return "" }

// Start starts cmd in the jail.
func (*Policy) Start(*exec.Cmd) error { return errNone }
