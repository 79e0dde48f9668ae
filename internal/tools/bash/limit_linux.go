package bash

import "syscall"

// rlimitProcesses is RLIMIT_NPROC.
const rlimitProcesses = 6

// maxProcesses returns the process limit for the user while a command runs, or 0 for no limit.
// It is lower than our own, so that after a fork bomb we can still start processes to end it.
func maxProcesses() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rlimitProcesses, &limit); err != nil || limit.Cur > 1<<30 {
		return 0
	}
	return limit.Cur - limit.Cur/10
}
