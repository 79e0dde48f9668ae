//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package term

import "os"

// IsTerminal reports whether f is a terminal; on this system it cannot tell.
func IsTerminal(*os.File) bool { return false }

// Size returns zeros: on this system it cannot tell.
func Size(*os.File) (width, height int) { return 0, 0 }
