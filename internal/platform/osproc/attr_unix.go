//go:build unix && !linux

package osproc

import "syscall"

// attributes gives the program a session of its own, without a terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
