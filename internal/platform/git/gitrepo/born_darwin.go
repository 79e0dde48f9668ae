package gitrepo

import (
	"time"

	"golang.org/x/sys/unix"
)

// creationTime returns a file's creation time.
func creationTime(path string) (time.Time, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return time.Time{}, false
	}
	return time.Unix(st.Btim.Unix()), true
}
