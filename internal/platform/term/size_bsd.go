//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package term

import "syscall"

const (
	getTermios = syscall.TIOCGETA
	setTermios = syscall.TIOCSETA
)
