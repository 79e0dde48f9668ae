package osproc

import (
	"os/exec"
	"time"
)

// Isolate makes cmd, which must have been created with a context, lead its own session and
// process group, and terminates the whole group when the context is done. The caller must call
// finish after cmd has exited, so that no process of a canceled command survives.
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
