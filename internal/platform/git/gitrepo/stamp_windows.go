package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

func stampOf(path string, l statMode) stamp {
	stat := os.Lstat
	if l == target {
		stat = os.Stat
	}
	info, err := stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stamp{}
	case err != nil:
		return stamp{problem: 1}
	}
	s := stamp{device: 1, mode: uint32(info.Mode().Type())}
	if !info.IsDir() || l == listing {
		s.size, s.changed = info.Size(), info.ModTime().UnixNano()
		s.status = s.changed
	}
	return s
}

// creationTime is not available on this system.
func creationTime(path string) (time.Time, bool) { return time.Time{}, false }
