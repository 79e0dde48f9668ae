//go:build !linux

package footprint

// releaseProgram does nothing: the system manages the pages of the program.
func releaseProgram() {}
