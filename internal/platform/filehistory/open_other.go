//go:build !unix

package filehistory

import "os"

// flock does nothing where there are no locks of this kind.
func flock(*os.File) error { return nil }
