package osproc

import (
	"math"

	"golang.org/x/sys/unix"
)

// KeepDescriptors marks every descriptor above 2 close-on-exec. Descriptors that this process inherited
// would otherwise be open in each program it starts, where no sandbox applies to them.
func KeepDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil { // Linux before 5.11
		keepListed()
	}
}
