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

// terminate ends the process and those it started; Windows has no gentler way that is certain.
func terminate(p *os.Process) { kill(p) }

func kill(p *os.Process) {
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() // ok: it may be gone
	p.Kill()                                                                // ok: as above
}

func alive(*os.Process) bool { return false }

func status(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
