package osproc

import (
	"os"
	"syscall"
	"time"
)

// markName is the variable of a [mark].
const markName = "ADZE_RUN"

// sweeps says that programs that left their group are found again.
const sweeps = true

// sweep kills every program that has one of the marks: those that became daemons, too. Before that they are
// stopped, until there are no new ones: a stopped process starts no others.
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

// signal sends a signal to a process, if it still is the one that was marked.
func (all marks) signal(pid int, s syscall.Signal) {
	p, err := os.FindProcess(pid) // from here on it stays the same
	if err != nil {
		return
	}
	defer p.Release() // ok: nothing depends on it
	if all.on(pid) {
		p.Signal(s) // ok: it may have ended
	}
}
