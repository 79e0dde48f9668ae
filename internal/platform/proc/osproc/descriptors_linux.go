package osproc

import (
	"math"

	"golang.org/x/sys/unix"
)

// KeepDescriptors marks every descriptor above 2 close-on-exec. Otherwise, descriptors that
// this process inherited would be open in every program it starts, where no sandbox applies to
// them.
func KeepDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil { // Linux before 5.11
		keepListed()
	}
}
