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

// interrupt reports false: there is no gentle way that is certain here.
func interrupt(*os.Process) bool { return false }

// terminate ends the process and those it started.
func terminate(p *os.Process) bool {
	kill(p)
	return true
}

func kill(p *os.Process) {
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() // ok: it may be gone
	p.Kill()                                                                // ok: as above
}

func alive(*os.Process) bool { return false }

func status(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
