package osproc

import "syscall"

// attributes puts the program into its own session without a terminal, and kills it when this
// process dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
