//go:build unix

package read

import (
	"fmt"
	"io/fs"
	"syscall"
)

// owner returns a file's owner, for display after its mode.
func owner(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" and belongs to user %d, group %d", s.Uid, s.Gid)
	}
	return ""
}
