//go:build linux || darwin

package gitstatus

import (
	"adze/internal/platform/git/gitindex"

	"golang.org/x/sys/unix"
)

// A stamp is a time as in the index.
type stamp struct{ sec, nsec uint32 }

func (s stamp) before(t stamp) bool { return s.sec < t.sec || s.sec == t.sec && s.nsec < t.nsec }

// check compares the state of a file with its entry.
func (w *walker) check(e entry) error {
	var st unix.Stat_t
	if err := unix.Lstat(w.absolute(e.name), &st); err != nil {
		return err
	}
	kind := uint32(st.Mode) & unix.S_IFMT // the kinds have the same values in the index
	is := gitindex.Stat{
		CSec: uint32(st.Ctim.Sec), CNsec: uint32(st.Ctim.Nsec), MSec: uint32(st.Mtim.Sec), MNsec: uint32(st.Mtim.Nsec),
		Inode: uint32(st.Ino), UID: st.Uid, GID: st.Gid, Size: uint32(st.Size),
	}
	was := e.stat
	switch {
	case kind != e.mode&gitindex.KindMask, st.Size>>32 != 0:
		return errUnknown
	case !e.link() && w.rules.Executable && (uint32(st.Mode)^e.mode)&unix.S_IXUSR != 0, is.Size != was.Size && was.Size != 0:
		w.changes = append(w.changes, change{e.name, 'M'})
	case coarse(is) == coarse(was) && is != was && was.MSec < w.written.sec:
		return errUnknown // not every git compares nanoseconds
	case is != was, !(stamp{was.MSec, was.MNsec}).before(w.written), was.Size == 0:
		w.uncertain = append(w.uncertain, e)
	}
	return nil
}

// coarse returns a state without fractions of seconds.
func coarse(s gitindex.Stat) gitindex.Stat {
	s.CNsec, s.MNsec = 0, 0
	return s
}
