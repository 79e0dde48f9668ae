//go:build !unix

package archive

import "io/fs"

// inode is not known here; size and time must do.
func inode(fs.FileInfo) uint64 { return 0 }
