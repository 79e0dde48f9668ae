package bash

import "syscall"

// rlimitProcesses is RLIMIT_NPROC.
const rlimitProcesses = 6

// maxProcesses returns how many processes the user may have while a command runs, or 0 for any number:
// fewer than without it, so that a command that forks without end leaves us some to end it with.
func maxProcesses() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rlimitProcesses, &limit); err != nil || limit.Cur > 1<<30 {
		return 0
	}
	return limit.Cur - limit.Cur/10
}
