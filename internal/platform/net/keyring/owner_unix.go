//go:build unix

package keyring

import "io/fs"

// othersWrite reports whether other users can replace files in a directory.
func othersWrite(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
}
