//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package term

import (
	"io"
	"os"
)

// Keys returns a reader for the keys typed into f.
func Keys(f *os.File) io.Reader { return f }
