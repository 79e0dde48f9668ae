//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package term

import (
	"errors"
	"os"
)

// Raw says that the terminal delivers whole lines only.
func Raw(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }

// Suspend says that a program cannot be stopped here.
func Suspend() error { return errors.ErrUnsupported }

// Changes returns a channel that gets nothing: the size is looked at when something is written.
func Changes() (changes <-chan os.Signal, stop func()) { return nil, func() {} }

// Resumes reports that no signal says so here.
func Resumes(os.Signal) bool { return false }

// DropInput does nothing here.
func DropInput(*os.File) {}
