package osproc

import "syscall"

// attributes gives the program a session of its own, without a terminal, and lets it die with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
