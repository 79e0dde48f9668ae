//go:build unix

package editor

import (
	"errors"
	"syscall"
)

// alive reports whether a process lives.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
