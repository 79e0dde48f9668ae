//go:build !unix

package filehistory

import (
	"fmt"
	"os"
)

// flock does nothing where there are no locks of this kind.
func flock(*os.File) error { return nil }

// openRegular opens a regular file.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file (%s)", info.Mode().Type())
	}
	return os.Open(path)
}
