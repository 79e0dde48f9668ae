//go:build !unix

package osproc

import "os"

// Alive reports whether a process of any user is running.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		p.Release()
	}
	return err == nil
}
