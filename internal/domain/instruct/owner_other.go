//go:build !unix

package instruct

import (
	"io/fs"
	"syscall"
)

const errNotDir = syscall.ENOTDIR

// private can't be determined on this system; false is the safe answer.
func private(fs.FileInfo) bool { return false }
