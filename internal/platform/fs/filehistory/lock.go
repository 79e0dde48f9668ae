package filehistory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/lockfile"
)

// ErrLocked means that another process has the history open.
var ErrLocked = errors.New("the file history is in use by another process: the session is open there")

const (
	// lockTries is the number of attempts to get the lock: it may still be held by a process
	// that has just ended, through a child that is about to exec.
	lockTries = 10
	lockPause = 20 * time.Millisecond
)

// claim locks the store for this process, until it is closed or the process ends, and creates
// its directory. The caller holds s.mu.
func (s *store) claim() error {
	if s.lock != nil || s.refused != nil {
		return s.refused
	}
	if err := fsys.MkdirPrivate(s.dir); err != nil {
		return err
	}
	if err := s.takeLock(); err != nil {
		return err
	}
	if info, err := os.Stat(s.indexPath()); err == nil && info.Mode().IsRegular() && info.Size() > 0 { // created since Open
		s.refused = ErrLocked
	}
	return s.refused
}

// takeLock locks the store if it exists. A store that cannot be locked is read-only.
func (s *store) takeLock() error {
	file, err := fsys.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.refused = fmt.Errorf("locking the file history: %w", err)
		return s.refused
	}
	for range lockTries {
		if err = lockfile.Lock(file); !errors.Is(err, lockfile.ErrLocked) {
			break
		}
		time.Sleep(lockPause)
	}
	if err != nil {
		file.Close() // ok: the original error matters more
		if s.refused = ErrLocked; !errors.Is(err, lockfile.ErrLocked) {
			s.refused = fmt.Errorf("locking %s: %w", file.Name(), err)
		}
		return s.refused
	}
	s.lock = file
	return nil
}
