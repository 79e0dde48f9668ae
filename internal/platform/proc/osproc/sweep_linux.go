package osproc

import (
	"os"
	"syscall"
	"time"
)

// markName is the environment variable of a [mark].
const markName = "ADZE_RUN"

// sweeps reports whether programs that left their group can be found.
const sweeps = true

// sweep kills all programs with any of the marks, including daemons. It first stops them until
// no new ones appear, because a stopped process cannot start others.
func sweep(all marks, patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		stopped := map[int]bool{}
		for fresh := true; fresh && time.Now().Before(end); {
			fresh = false
			for _, pid := range all.bearers() {
				if !stopped[pid] {
					stopped[pid], fresh = true, true
					all.signal(pid, syscall.SIGSTOP)
				}
			}
		}
		if len(stopped) == 0 {
			return
		}
		for pid := range stopped {
			all.signal(pid, syscall.SIGKILL)
		}
	}
}

// signal sends a signal to a process if it still has a mark.
func (all marks) signal(pid int, s syscall.Signal) {
	p, err := os.FindProcess(pid) // the handle pins the process
	if err != nil {
		return
	}
	defer p.Release() // ok: nothing depends on it
	if all.on(pid) {
		p.Signal(s) // ok: it may have exited
	}
}
