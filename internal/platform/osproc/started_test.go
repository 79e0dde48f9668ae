package osproc

import (
	"os"
	"os/exec"
	"testing"
)

// A process has the same start whenever it is asked about, and none when it has ended.
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
	stdin.Close() // ok: it ends with that
	cmd.Wait()    // ok: that it has ended is what counts
	if got := Started(cmd.Process.Pid); got != "" {
		t.Errorf("it has ended, and began at %q", got)
	}
	if got := Started(-1); got != "" {
		t.Errorf("no process began at %q", got)
	}
}
