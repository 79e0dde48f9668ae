//go:build unix

package osproc

import (
	"os"
	"syscall"
)

// The process leads its own session, so its group has its number.

// interrupt and terminate report whether the group was told.
func interrupt(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGINT) == nil }
func terminate(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGTERM) == nil }
func kill(p *os.Process)           { syscall.Kill(-p.Pid, syscall.SIGKILL) } // ok: it may be gone

// alive reports whether anyone is left in the group.
func alive(p *os.Process) bool { return syscall.Kill(-p.Pid, 0) != syscall.ESRCH }

func status(s *os.ProcessState) (code int, signal string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return s.ExitCode(), ""
}
