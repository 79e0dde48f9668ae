package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"adze/internal/platform/fs/lockfile"
	"adze/internal/platform/proc/osproc"
)

// Retries for a lock: a process that just exited may still hold it, on Unix through a child that
// is about to exec, on Windows until the system releases it. That can take long on a busy machine,
// so a process known to be dead is given more time.
const (
	lockTries = 10
	deadTries = 500
	lockPause = 10 * time.Millisecond
)

// lock locks the log until f is closed or the process ends in any way. It succeeds on file
// systems without lock support: better an unlocked session than none.
func lock(f *os.File) error {
	for tries := 1; ; tries++ {
		err := lockfile.Lock(f)
		if !errors.Is(err, lockfile.ErrLocked) {
			if err != nil {
				err = fmt.Errorf("locking %s: %w", f.Name(), err)
			}
			return err
		}
		if holder := lockHolder(f); tries >= lockTries && (holder == 0 || osproc.Alive(holder)) || tries >= deadTries {
			return &LockedError{Path: f.Name(), PID: holder}
		}
		time.Sleep(lockPause)
	}
}
