//go:build !unix

package keyring

import "io/fs"

// othersWrite returns false: on this system the mode does not show a directory's permissions.
func othersWrite(fs.FileInfo) bool { return false }
