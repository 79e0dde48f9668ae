//go:build !unix

package filehistory

import "os"

// flock does nothing on systems without flock.
func flock(*os.File) error { return nil }
