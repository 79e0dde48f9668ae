//go:build unix

package osproc

import (
	"os"
	"strconv"
	"syscall"
)

// maxDescriptors limits how many descriptors are tried if the system cannot list the open ones.
const maxDescriptors = 1 << 16

// keepListed marks the open descriptors above 2 individually.
func keepListed() {
	names, err := os.ReadDir("/dev/fd")
	if err != nil || len(names) <= 3 { // FreeBSD without fdescfs lists only 0, 1 and 2
		for fd := 3; fd < maxDescriptors; fd++ {
			syscall.CloseOnExec(fd)
		}
		return
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
