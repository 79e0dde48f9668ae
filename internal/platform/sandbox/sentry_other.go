//go:build !linux

package sandbox

import (
	"errors"
	"os"
)

// On other systems protected names cannot be created in the first place, so the sentry is not
// needed.

type notices struct{}

func (*notices) add(string, func(dir, name string)) bool { return true }
func (*notices) remove(string)                           {}
func (*notices) close()                                  {}

func holds(*os.File, string) bool             { return false }
func moveFrom(*os.File, string, string) error { return errors.ErrUnsupported }
