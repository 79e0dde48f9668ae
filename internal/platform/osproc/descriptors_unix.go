//go:build unix

package osproc

import (
	"os"
	"strconv"
	"syscall"
)

// maxDescriptors bounds the descriptors tried when the system does not list the open ones.
const maxDescriptors = 1 << 16

// keepListed marks the open descriptors above 2 one by one.
func keepListed() {
	names, err := os.ReadDir("/dev/fd")
	if err != nil || len(names) <= 3 { // FreeBSD without fdescfs lists 0, 1 and 2 alone
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
