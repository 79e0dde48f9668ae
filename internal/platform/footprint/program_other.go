//go:build !linux

package footprint

// releaseProgram leaves it to the system which pages of the program are in memory.
func releaseProgram() {}
