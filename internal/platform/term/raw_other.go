//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package term

import (
	"errors"
	"os"
)

// Raw returns an error: on this system the terminal only delivers whole lines.
func Raw(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }

// Suspend returns an error: a program cannot be stopped on this system.
func Suspend() error { return errors.ErrUnsupported }

// Changes returns a channel that never receives: the size is checked on writing.
func Changes() (changes <-chan os.Signal, stop func()) { return nil, func() {} }

// Resumes returns false: this system has no such signal.
func Resumes(os.Signal) bool { return false }

// DropInput does nothing on this system.
func DropInput(*os.File) {}
