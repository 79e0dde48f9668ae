//go:build !unix

package archive

import "io/fs"

// inode is not available on this system; size and time have to do.
func inode(fs.FileInfo) uint64 { return 0 }
