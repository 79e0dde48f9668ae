//go:build !unix

package editor

import "os"

// alive reports whether a process lives.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		p.Release()
	}
	return err == nil
}
