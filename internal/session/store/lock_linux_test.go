package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLockOfADeadProcess checks that Open waits for the lock of a dead process, which a child
// about to exec may hold for a while, but not for a live process.
//
// Proves SESS-16.
func TestLockOfADeadProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	holder := exec.Command("bash", "-c", `exec 9>"$0"; flock 9; sleep 0.7 >/dev/null 2>&1 & exec 9>&-`, path) // only the child holds the lock
	if out, err := holder.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lock(f); err != nil {
		t.Errorf("the lock of a process that has ended: %v", err)
	}
	own, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	began := time.Now()
	if err := lock(own); err == nil || time.Since(began) > time.Minute {
		t.Errorf("the lock of a process that lives: %v after %v", err, time.Since(began))
	}
	syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // ok: it is closed in any case
}
