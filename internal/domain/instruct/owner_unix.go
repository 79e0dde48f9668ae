//go:build unix

package instruct

import (
	"io/fs"
	"os"
	"syscall"
)

// errNotDir is the system error for a file in place of a directory.
const errNotDir = syscall.ENOTDIR

// private reports whether only the user and the administrator can have written a file or into a
// directory.
func private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o022 == 0 && (int(st.Uid) == os.Geteuid() || st.Uid == 0)
}
