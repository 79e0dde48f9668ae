// Package cputime measures CPU time. Tests and benchmarks use it because wall-clock time
// depends on other programs.
package cputime

import (
	"time"

	"golang.org/x/sys/windows"
)

// Used returns the CPU time this process has used.
func Used() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return duration(kernel) + duration(user)
}

// duration converts a Filetime, which counts units of 100 ns.
func duration(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
