//go:build unix

package memory

import "golang.org/x/sys/unix"

// writable returns why no files can be made in a folder, or nil.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
