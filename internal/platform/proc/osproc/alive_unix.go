//go:build unix

package osproc

import (
	"errors"
	"syscall"
)

// Alive reports whether a process of any user is running.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
