package sandbox

import (
	"errors"
	"os/exec"
	"sync"
)

// trials are the running self-tests. None outlives the sandbox. bubblewrap alone does not
// ensure that: its inner process hangs if the outer one is killed between two of their steps.
type trials struct {
	mu      sync.Mutex
	closed  bool
	running map[*exec.Cmd]bool
	wg      sync.WaitGroup
}

// run runs a command in a new process group.
func (t *trials) run(cmd *exec.Cmd) error {
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	if err := t.start(cmd); err != nil {
		return err
	}
	defer t.wg.Done()
	err := cmd.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, cmd)
	return err
}

func (t *trials) start(cmd *exec.Cmd) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errors.New("the sandbox is closed")
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if t.running == nil {
		t.running = map[*exec.Cmd]bool{}
	}
	t.running[cmd] = true
	t.wg.Add(1)
	return nil
}

// close kills the running trials and waits for them. Nothing can be started afterwards.
func (t *trials) close() {
	t.mu.Lock()
	t.closed = true
	for cmd := range t.running {
		killGroup(cmd.Process) // ok: may have ended
	}
	t.mu.Unlock()
	t.wg.Wait()
}
