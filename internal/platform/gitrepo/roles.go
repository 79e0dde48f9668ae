package gitrepo

import (
	"os"
	"slices"
	"time"
)

// A stamp tells whether a file has changed. That of a directory tells whether it is another one, and as a
// listing also whether names in it have come or gone. The zero value is that of a file that does not exist.
type stamp struct {
	device, inode   uint64
	mode            uint32
	size            int64
	changed, status int64 // contents, anything; in nanoseconds
	problem         uintptr
}

// A look is how a file is looked at.
type look uint8

const (
	entry   look = iota // as it is
	target              // what a link leads to
	listing             // a directory with the names in it
)

// A role is a file on which a verdict rests, also by not being there.
type role struct {
	path  string
	look  look
	stamp stamp
}

// roles are all files on which a verdict rests.
type roles []role

// add takes down how a file is now, unless that is known already.
func (r *roles) add(path string, l look) stamp {
	if i := slices.IndexFunc(*r, func(x role) bool { return x.path == path && x.look == l }); i >= 0 {
		return (*r)[i].stamp
	}
	s := stampOf(path, l)
	*r = append(*r, role{path, l, s})
	return s
}

// hold reports whether every file is still as it was.
func (r roles) hold() bool {
	for i := range r {
		if stampOf(r[i].path, r[i].look) != r[i].stamp {
			return false
		}
	}
	return len(r) > 0
}

const (
	// settling is how long after a change another one may go unnoticed.
	settling = 50 * time.Millisecond
	// coarse is the same where files have no fractions of seconds.
	coarse = 2 * time.Second
)

// settled reports whether no file had changed so recently before a time that a further change might not show.
func (r roles) settled(at time.Time) bool {
	return !slices.ContainsFunc(r, func(x role) bool {
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
