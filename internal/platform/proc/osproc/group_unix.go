//go:build unix

package osproc

import (
	"os"
	"syscall"
)

// The process leads its own session, so its group ID is its PID.

// interrupt and terminate report whether the group was signaled.
func interrupt(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGINT) == nil }
func terminate(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGTERM) == nil }
func kill(p *os.Process)           { syscall.Kill(-p.Pid, syscall.SIGKILL) } // ok: it may have exited

// alive reports whether the group has any processes left.
func alive(p *os.Process) bool { return syscall.Kill(-p.Pid, 0) != syscall.ESRCH }

func status(s *os.ProcessState) (code int, signal string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return s.ExitCode(), ""
}
