//go:build !unix

package keyring

import "io/fs"

// othersWrite reports that no one can: here the rights of a directory are not in its mode.
func othersWrite(fs.FileInfo) bool { return false }
