//go:build unix

package memdir

import "golang.org/x/sys/unix"

// writable returns the reason no files can be created in a folder, or nil.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
