//go:build !unix

package memdir

import "os"

// writable returns the reason no files can be created in a folder, judging by its mode, or nil.
func writable(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = os.ErrPermission
	}
	return err
}
