package osproc

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A program that becomes a daemon, twice over, does not outlive the runner.
//
// Proves SH-04.
func TestDaemonsEndWithTheRunner(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	var r Runner
	var out bytes.Buffer
	exit, err := r.Run(context.Background(), Cmd{
		Path: sh, Args: []string{"-c", "setsid sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $!'"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Output: &out,
	})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%v, %+v", err, exit)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("there is no daemon: %v", err)
	}
	mark := r.mark
	r.Close()
	if left := marked(mark); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
