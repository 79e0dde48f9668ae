package osproc

import (
	"os/exec"
	"time"
)

// Isolate prepares cmd, which was made with a context, to lead its own session and process group, and
// to be ended with all of it when the context is done. The caller starts it, and calls the returned
// function when it has ended, so that nothing of the group outlives a cancelled command.
func Isolate(cmd *exec.Cmd, grace time.Duration) (finish func()) {
	cmd.SysProcAttr = attributes()
	cancelled := false
	cmd.Cancel = func() error {
		cancelled = true
		terminate(cmd.Process)
		return nil
	}
	cmd.WaitDelay = grace
	return func() {
		if cancelled && cmd.Process != nil {
			kill(cmd.Process)
		}
	}
}
