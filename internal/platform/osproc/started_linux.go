package osproc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Started returns when a process began, in a form that is only good for comparing: with its id it tells the process from
// a later one that got the same id. It is empty if the process does not live.
func Started(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	end := bytes.LastIndexByte(stat, ')') // the name before it may hold anything
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
