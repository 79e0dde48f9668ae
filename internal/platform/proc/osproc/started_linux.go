package osproc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Started returns an opaque representation of a process's start time, or "" if the process is
// not running. Together with the PID it distinguishes the process from later ones with the same
// PID.
func Started(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	end := bytes.LastIndexByte(stat, ')') // the name before it may contain any character
	if end < 0 {
		return ""
	}
	fields := strings.Fields(string(stat[end+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start]
}
