//go:build unix && !linux

package osproc

import "syscall"

// GuardSelf disables core dumps of this process.
func GuardSelf() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err == nil {
		limit.Cur = 0
		syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // ok: a limit may always be lowered
	}
}
