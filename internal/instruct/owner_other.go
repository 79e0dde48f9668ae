//go:build !unix

package instruct

import (
	"io/fs"
	"syscall"
)

const errNotDir = syscall.ENOTDIR

// private cannot be answered here, and no is the safe answer.
func private(fs.FileInfo) bool { return false }
