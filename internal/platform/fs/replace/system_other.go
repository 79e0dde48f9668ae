//go:build !linux

package replace

import (
	"errors"
	"io/fs"
	"os"
)

func view(*os.File, int64) ([]byte, func()) { return nil, nil }

func beginSync(*os.File, int64, int64) {}

func (d directory) openUnnamed(string, fs.FileMode) (*os.File, error) {
	return nil, errors.ErrUnsupported
}

func (d directory) linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
