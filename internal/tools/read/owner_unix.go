//go:build unix

package read

import (
	"fmt"
	"io/fs"
	"syscall"
)

// owner says who owns a file, as an addition to its mode.
func owner(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" and belongs to user %d, group %d", s.Uid, s.Gid)
	}
	return ""
}
