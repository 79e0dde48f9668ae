//go:build !linux

package replace

import (
	"errors"
	"io/fs"
	"os"
)

func view(*os.File, int64) ([]byte, func()) { return nil, nil }

func beginSync(*os.File, int64, int64) {}

// renameNew links the file to its new name first, because linking, unlike renaming, fails if
// the name is taken.
func (d directory) renameNew(from, to string) error { return d.link(from, to) }

func (d directory) openUnnamed(string, fs.FileMode) (*os.File, error) {
	return nil, errors.ErrUnsupported
}

func (d directory) linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
