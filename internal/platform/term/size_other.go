//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package term

import "os"

// IsTerminal returns false: this system cannot tell.
func IsTerminal(*os.File) bool { return false }

// Size returns zeros: this system cannot tell.
func Size(*os.File) (width, height int) { return 0, 0 }
