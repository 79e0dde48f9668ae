package gitrepo

import (
	"os"
	"slices"
	"time"
)

// A stamp tells whether a file has changed. That of a directory tells only whether it is another one. The zero
// value is that of a file that does not exist.
type stamp struct {
	device, inode   uint64
	mode            uint32
	size            int64
	changed, status int64 // contents, anything; in nanoseconds
	problem         uintptr
}

// A role is a file on which a verdict rests, also by not being there.
type role struct {
	path   string
	follow bool // it is what a link leads to that counts
	stamp  stamp
}

// roles are all files on which a verdict rests.
type roles []role

// add takes down how a file is now, unless that is known already.
func (r *roles) add(path string) stamp {
	if i := slices.IndexFunc(*r, func(x role) bool { return x.path == path && !x.follow }); i >= 0 {
		return (*r)[i].stamp
	}
	s := stampOf(path, false)
	*r = append(*r, role{path: path, stamp: s})
	return s
}

// follow is like add for what a link leads to.
func (r *roles) follow(path string) {
	*r = append(*r, role{path: path, follow: true, stamp: stampOf(path, true)})
}

// hold reports whether every file is still as it was.
func (r roles) hold() bool {
	for i := range r {
		if stampOf(r[i].path, r[i].follow) != r[i].stamp {
			return false
		}
	}
	return len(r) > 0
}

// settling is how long after a change another one may go unnoticed.
const settling = 50 * time.Millisecond

// settled reports whether no file was changed so recently that a further change might not show.
func (r roles) settled() bool {
	limit := time.Now().Add(-settling).UnixNano()
	return !slices.ContainsFunc(r, func(x role) bool { return x.stamp.status > limit })
}

func (s stamp) exists() bool { return s != stamp{} }

func (s stamp) regular() bool { return os.FileMode(s.mode).IsRegular() && s.exists() }

func (s stamp) dir() bool { return os.FileMode(s.mode).IsDir() }

func (s stamp) link() bool { return os.FileMode(s.mode)&os.ModeSymlink != 0 }
