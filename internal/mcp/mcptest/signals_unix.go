//go:build unix

package mcptest

import (
	"os/signal"
	"syscall"
)

func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM) }
