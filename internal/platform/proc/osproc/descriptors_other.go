//go:build unix && !linux

package osproc

// KeepDescriptors marks every descriptor above 2 close-on-exec. Otherwise, descriptors that
// this process inherited would be open in every program it starts, where no sandbox applies to
// them.
func KeepDescriptors() { keepListed() }
