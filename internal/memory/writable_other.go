//go:build !unix

package memory

import "os"

// writable returns why no files can be made in a folder, as far as its mode tells, or nil.
func writable(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = os.ErrPermission
	}
	return err
}
