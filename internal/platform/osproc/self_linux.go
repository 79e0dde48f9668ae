package osproc

import "golang.org/x/sys/unix"

// GuardSelf keeps other programs of the same user out of the memory of this process and out of its
// environment in /proc, and keeps it from leaving an image of its memory. Programs that it starts are
// not affected, which is why the limit on such images is left alone.
func GuardSelf() {
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // ok: it cannot fail with this value
}
