//go:build unix && !linux

package osproc

import "syscall"

// attributes puts the program into its own session without a terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
