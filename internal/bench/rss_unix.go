//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS returns the most memory that a process that has ended had, in bytes.
func maxRSS(s *os.ProcessState) int64 {
	used, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(used.Maxrss)
	}
	return int64(used.Maxrss) << 10
}
