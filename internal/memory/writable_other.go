//go:build !unix

package memory

import "os"

// writable reports whether files can be made in a folder, as far as its mode tells.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o200 != 0
}
