//go:build unix

// Package cputime tells how long the processor has worked. Tests and benchmarks
// bound and compare that, since the clock also counts what other programs do.
package cputime

import (
	"syscall"
	"time"
)

// Used returns how long the processor has worked for this process.
func Used() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r) // ok: it cannot fail
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
