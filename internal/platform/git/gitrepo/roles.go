package gitrepo

import (
	"os"
	"slices"
	"time"
)

// A stamp detects changes of a file. For a directory it detects replacement, and as a listing
// also added or removed names. The zero value means that the file does not exist.
type stamp struct {
	device, inode   uint64
	mode            uint32
	size            int64
	changed, status int64 // content change and status change times, in nanoseconds
	problem         uintptr
}

// A statMode determines how a file is inspected.
type statMode uint8

const (
	entry   statMode = iota // the file itself; links are not followed
	target                  // the target of a link
	listing                 // a directory and its names
)

// A dependency is a file that a verdict depends on, even if the file does not exist.
type dependency struct {
	path  string
	look  statMode
	stamp stamp
}

// dependencies are all files that a verdict depends on.
type dependencies []dependency

// add records the current state of a file, unless it is already recorded.
func (r *dependencies) add(path string, l statMode) stamp {
	if i := slices.IndexFunc(*r, func(x dependency) bool { return x.path == path && x.look == l }); i >= 0 {
		return (*r)[i].stamp
	}
	s := stampOf(path, l)
	*r = append(*r, dependency{path, l, s})
	return s
}

// hold reports whether all files are unchanged.
func (r dependencies) hold() bool {
	for i := range r {
		if stampOf(r[i].path, r[i].look) != r[i].stamp {
			return false
		}
	}
	return len(r) > 0
}

const (
	// settling is how long after a change another change may go unnoticed.
	settling = 50 * time.Millisecond
	// coarse is the same for file systems with whole-second timestamps.
	coarse = 2 * time.Second
)

// settled reports whether no file changed so shortly before a time that a further change could
// go unnoticed.
func (r dependencies) settled(at time.Time) bool {
	return !slices.ContainsFunc(r, func(x dependency) bool {
		limit := settling
		if x.stamp.status%int64(time.Second) == 0 {
			limit = coarse
		}
		return x.stamp.status > at.Add(-limit).UnixNano()
	})
}

func (s stamp) exists() bool { return s != stamp{} }

func (s stamp) regular() bool { return os.FileMode(s.mode).IsRegular() && s.exists() }

func (s stamp) dir() bool { return os.FileMode(s.mode).IsDir() }

func (s stamp) link() bool { return os.FileMode(s.mode)&os.ModeSymlink != 0 }
