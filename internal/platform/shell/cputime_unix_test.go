//go:build unix

package shell

import (
	"syscall"
	"time"
)

// cpuTime returns how long the processor has worked for this process.
func cpuTime() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r) // ok: it cannot fail
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
