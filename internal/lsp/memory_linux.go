package lsp

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// groupMemory returns the resident memory of a process group, in bytes.
func groupMemory(pid int) (sum int64) {
	group := strconv.Itoa(pid)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // ok: the pattern is valid
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		// The name in parentheses may contain anything.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		const groupField, rssField = 2, 21
		if len(fields) <= rssField || string(fields[groupField]) != group {
			continue
		}
		pages, _ := strconv.ParseInt(string(fields[rssField]), 10, 64) // ok: 0 then
		sum += pages * int64(os.Getpagesize())
	}
	return sum
}
