// Package cputime tells how long the processor has worked. Tests and benchmarks
// bound and compare that, since the clock also counts what other programs do.
package cputime

import (
	"time"

	"golang.org/x/sys/windows"
)

// Used returns how long the processor has worked for this process.
func Used() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return duration(kernel) + duration(user)
}

// duration returns a time that is counted in units of 100 ns.
func duration(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
