//go:build !unix

package store

import "os"

// lock does nothing: the standard library has no locks here.
func lock(*os.File) error { return nil }
