//go:build !linux

package osproc

// awaitExit does nothing: here a thread waits for each child.
func awaitExit(int) {}
