//go:build !linux

package bash

// maxProcesses returns 0: the number of processes is not limited here.
func maxProcesses() uint64 { return 0 }
