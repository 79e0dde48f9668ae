//go:build !linux

package osproc

import (
	"fmt"
	"os/exec"
	"strings"
)

// Started returns when a process began, in a form that is only good for comparing: with its id it tells the process from
// a later one that got the same id. It is empty if the process does not live.
func Started(pid int) string {
	if !Alive(pid) {
		return ""
	}
	out, err := exec.Command("ps", "-o", "lstart=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		return "unknown" // there is no ps: the id has to do
	}
	return strings.Join(strings.Fields(string(out)), " ")
}
