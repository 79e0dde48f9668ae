//go:build unix

package fsys

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnPrivate reports whether the user owns a file and nobody else can read or write it.
func OwnPrivate(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o077 == 0 && int(st.Uid) == os.Geteuid()
}

// Own reports whether the user owns a file and nobody else can write it.
func Own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Perm()&0o022 == 0 && int(st.Uid) == os.Geteuid()
}
