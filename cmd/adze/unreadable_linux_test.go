package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnreadableTranscript checks that an unreadable transcript is reported with the reason
// instead of being ignored, and that files without messages are counted.
//
// Proves SESS-20.
func TestUnreadableTranscript(t *testing.T) {
	first := adze(t, filepath.Join(t.TempDir(), "state"), "forever\nsay Fine.", "-p", "hello", "--model", "sonnet", "--session-id", "11111111-2222-4333-8444-555555555555")
	if os.Getuid() == 0 {
		runAs(t, first, 64_323)
	}
	run := func(args ...string) (out string, code int) {
		cmd := exec.CommandContext(t.Context(), first.Path, args...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = first.Dir, first.Env, first.SysProcAttr
		text, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		return string(text), code
	}
	if out, code := run(first.Args[1:]...); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	home := ""
	for _, variable := range first.Env {
		if value, ok := strings.CutPrefix(variable, "ADZE_HOME="); ok {
			home = value // the last one wins
		}
	}
	files, err := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.Chmod(files[0], 0); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(home, "projects", ".index")) // ok: without one, the files are read
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"-c", "-p", "again", "--model", "sonnet"}, 2},
		{[]string{"--resume", "11111111-2222-4333-8444-555555555555", "-p", "again", "--model", "sonnet"}, 2},
		{[]string{"sessions", "show", "11111111-2222-4333-8444-555555555555"}, 1},
		{[]string{"sessions", "list"}, 0},
		{[]string{"sessions", "list", "--all"}, 0},
	} {
		out, code := run(tt.args...)
		if !strings.Contains(out, files[0]) || !strings.Contains(out, "permission denied") || strings.Contains(out, "no session") || code != tt.code {
			t.Errorf("%v: %d, want %d: %s", tt.args, code, tt.code, out)
		}
	}
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(files[0]), name), []byte("not a record\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := run("sessions", "list"); code != 0 || !strings.Contains(out, "2 files hold no message that can be read; not listed") {
		t.Errorf("%d: %s", code, out)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if out, code := run("-c", "-p", "again", "--model", "sonnet"); code != 2 || !strings.Contains(out, "no session that can be continued: 2 files hold no message that can be read") {
		t.Errorf("%d: %s", code, out)
	}
}
