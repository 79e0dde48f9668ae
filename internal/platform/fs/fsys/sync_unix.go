//go:build unix

package fsys

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// SyncDir makes a directory's entries survive a power failure.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("syncing folder %s: %w", path, err)
	}
	defer dir.Close()
	// Some file systems cannot sync a directory; ignore their error.
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("syncing folder %s: %w", path, err)
	}
	return nil
}
