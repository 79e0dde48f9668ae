//go:build unix

package fsys

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnPrivate reports whether a file belongs to the user, and no one else may read or write it.
func OwnPrivate(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o077 == 0 && int(st.Uid) == os.Geteuid()
}

// Own reports whether a file belongs to the user, and no one else may write it.
func Own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o022 == 0 && int(st.Uid) == os.Geteuid()
}
