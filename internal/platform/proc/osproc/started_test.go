package osproc

import (
	"os"
	"os/exec"
	"testing"
)

// TestStarted checks that a process's start time is stable, and empty after the process has
// exited.
func TestStarted(t *testing.T) {
	mine := Started(os.Getpid())
	if mine == "" || mine != Started(os.Getpid()) {
		t.Fatalf("this process began at %q", mine)
	}
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	if Started(cmd.Process.Pid) == "" {
		t.Error("the child does not live")
	}
	stdin.Close() // ok: this ends the process
	cmd.Wait()    // ok: the exit status doesn't matter
	if got := Started(cmd.Process.Pid); got != "" {
		t.Errorf("it has ended, and began at %q", got)
	}
	if got := Started(-1); got != "" {
		t.Errorf("no process began at %q", got)
	}
}
