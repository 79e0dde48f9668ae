package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTerminalStaysRaw checks that a resumed program sets the terminal to raw mode directly and
// never back first: otherwise the terminal would echo input in the meantime, and the program
// would again.
func TestTerminalStaysRaw(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, "forever\nsay Hello.\n")
	tm.enter("clear; strace -f -o trace -e trace=ioctl adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	shell := strings.TrimSpace(tm.tmux("display-message", "-p", "#{pane_pid}"))
	tracer, err := exec.Command("pgrep", "-P", shell).Output()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("pkill", "-CONT", "-P", strings.TrimSpace(string(tracer))).CombinedOutput(); err != nil {
		t.Fatalf("resuming: %v\n%s", err, out)
	}
	var settings []string
	until(t, "the terminal is set once more", func() bool {
		data, err := os.ReadFile(filepath.Join(tm.dir, "trace"))
		_, after, resumed := strings.Cut(string(data), "SIGCONT")
		settings = regexp.MustCompile(`TCSETS\w*, .*`).FindAllString(after, -1)
		return err == nil && resumed && len(settings) > 0
	})
	for _, s := range settings {
		if regexp.MustCompile(`\bECHO\b| echo\b`).MatchString(s) { // newer and older strace formats
			t.Errorf("the terminal echoes input: %s", s)
		}
	}
}
