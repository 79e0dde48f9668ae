//go:build !unix

package teams

import "errors"

// handsOver is the reason why jobs cannot be passed to another process on this system.
var handsOver = errors.New("terminal panes are not available on this system")

func handOver(string, job) (func(started bool) error, error) { return nil, handsOver }

// RunPane returns a failure exit code, since panes are unavailable here.
func RunPane([]string) int { return 1 }
