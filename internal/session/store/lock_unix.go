//go:build unix

package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"adze/internal/platform/proc/osproc"
)

// Retries for a lock: a process that just exited may still hold it through a child that is
// about to exec. That can take long on a busy machine, so a process known to be dead is given
// more time.
const (
	lockTries = 10
	deadTries = 500
	lockPause = 10 * time.Millisecond
)

// lock locks the log until f is closed or the process ends in any way.
func lock(f *os.File) error {
	for tries := 1; ; {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			if holder := lockHolder(f); tries >= lockTries && (holder == 0 || osproc.Alive(holder)) || tries >= deadTries {
				return &LockedError{Path: f.Name(), PID: holder}
			}
			tries++
			time.Sleep(lockPause)
			continue
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
			return nil // no lock support; better an unlocked session than none
		case err != nil:
			return fmt.Errorf("locking %s: %w", f.Name(), err)
		}
		return nil
	}
}

// lockHolder finds the process that holds the lock on f in the kernel's list, if available.
func lockHolder(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	list, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer list.Close()
	inode := ":" + strconv.FormatUint(uint64(stat.Ino), 10)
	for lines := bufio.NewScanner(list); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 08:02:1048603 0 EOF
		fields := strings.Fields(lines.Text())
		if len(fields) == 8 && fields[1] == "FLOCK" && strings.HasSuffix(fields[5], inode) {
			pid, err := strconv.Atoi(fields[4])
			if err == nil && pid > 0 {
				return pid
			}
		}
	}
	return 0
}
