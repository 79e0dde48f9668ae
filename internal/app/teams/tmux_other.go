//go:build !unix

package teams

import "errors"

// handsOver says that no job can be handed to another process on this system.
var handsOver = errors.New("terminal panes are not available on this system")

func handOver(string, job) (func(started bool) error, error) { return nil, handsOver }

// RunPane returns the exit code of a program that cannot run here.
func RunPane([]string) int { return 1 }
