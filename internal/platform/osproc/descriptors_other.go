//go:build unix && !linux

package osproc

// KeepDescriptors marks every descriptor above 2 close-on-exec. Descriptors that this process inherited
// would otherwise be open in each program it starts, where no sandbox applies to them.
func KeepDescriptors() { keepListed() }
