//go:build !linux

package bash

// maxProcesses returns 0: this system has no process limit.
func maxProcesses() uint64 { return 0 }
