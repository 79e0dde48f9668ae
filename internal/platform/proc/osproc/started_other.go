//go:build !linux && !windows

package osproc

import (
	"fmt"
	"os/exec"
	"strings"
)

// Started returns an opaque representation of a process's start time, or "" if the process is
// not running. Together with the PID it distinguishes the process from later ones with the same
// PID.
func Started(pid int) string {
	if !Alive(pid) {
		return ""
	}
	out, err := exec.Command("ps", "-o", "lstart=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		return "unknown" // ps is missing, so the PID must suffice
	}
	return strings.Join(strings.Fields(string(out)), " ")
}
