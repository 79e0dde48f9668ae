//go:build unix

package tooltest

import (
	"os/exec"
	"testing"
)

func TestProcesses(t *testing.T) {
	before := processes()
	if processes() != before {
		t.Error("it grew by itself")
	}
	if err := exec.Command("true").Run(); err != nil {
		t.Fatal(err)
	}
	if processes() == before {
		t.Error("a process was not noticed")
	}
}
