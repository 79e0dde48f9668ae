//go:build !unix

package teams

import "errors"

// errNoPanes is the reason why jobs cannot be passed to another process on this system.
var errNoPanes = errors.New("terminal panes are not available on this system")

func sendJob(string, job) (func(started bool) error, error) { return nil, errNoPanes }

// RunPane returns a failure exit code, since panes are unavailable here.
func RunPane([]string) int { return 1 }
