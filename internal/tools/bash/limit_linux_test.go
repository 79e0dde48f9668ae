package bash

import (
	"strconv"
	"strings"
	"testing"
)

// TestCommandsHaveFewerProcesses checks that a fork bomb reaches its limit before adze does.
func TestCommandsHaveFewerProcesses(t *testing.T) {
	b := newBench(t, nil)
	want := "unlimited"
	if n := maxProcesses(); n > 0 {
		want = strconv.FormatUint(n, 10)
	}
	if got := strings.TrimSpace(b.run(t, "touch x; ulimit -u")); got != want {
		t.Errorf("%s processes, want %s", got, want)
	}
}
