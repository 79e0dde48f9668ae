//go:build !linux

package osproc

// awaitExit does nothing: on this system a thread waits for each child.
func awaitExit(int) {}
