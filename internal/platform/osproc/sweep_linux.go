package osproc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// markName is the variable by which programs that left their group are found again.
const markName = "ADZE_RUN"

// sweep kills every program that has the mark in its environment: those that became daemons. Whatever they
// start meanwhile has it too, so it looks until there is none.
func sweep(mark string) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		found := marked(mark)
		if len(found) == 0 {
			return
		}
		for _, pid := range found {
			syscall.Kill(pid, syscall.SIGKILL) // ok: it may have ended
		}
	}
}

// marked returns the processes with the mark. Those of other users cannot be looked at.
func marked(mark string) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()                // ok: it was only read
	names, _ := dir.Readdirnames(-1) // ok: those that were read are looked at
	entry := []byte(markName + "=" + mark + "\x00")
	var found []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if env, err := os.ReadFile("/proc/" + name + "/environ"); err == nil && bytes.Contains(env, entry) {
			found = append(found, pid)
		}
	}
	return found
}
