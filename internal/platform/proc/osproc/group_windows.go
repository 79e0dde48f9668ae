package osproc

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// interrupt returns false: Windows has no reliable graceful way.
func interrupt(*os.Process) bool { return false }

// terminate ends the process and its descendants.
func terminate(p *os.Process) bool {
	kill(p)
	return true
}

func kill(p *os.Process) {
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() // ok: it may have exited
	p.Kill()                                                                // ok: as above
}

func alive(*os.Process) bool { return false }

func status(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
