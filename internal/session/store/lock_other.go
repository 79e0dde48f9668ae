//go:build !unix

package store

import "os"

// lock does nothing: the standard library has no file locks on this system.
func lock(*os.File) error { return nil }
