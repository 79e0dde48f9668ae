//go:build unix

package osproc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(script string, out io.Writer) Cmd {
	return Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin", "GIVEN=yes"}, Output: out}
}

// runner returns a Runner that the test cleans up.
func runner(t *testing.T) *Runner {
	r := &Runner{Grace: 200 * time.Millisecond}
	t.Cleanup(r.Close)
	return r
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, script, output string
		want                 Exit
	}{
		{"success", "echo a; echo b >&2; echo c", "a\nb\nc\n", Exit{}},
		{"failure", "echo no; exit 3", "no\n", Exit{Code: 3}},
		{"signal", "kill -KILL $$", "", Exit{Code: -1, Signal: "killed"}},
		{"nothing to read", "cat; echo end", "end\n", Exit{}},
		{"environment", "echo $GIVEN $HOME", "yes\n", Exit{}},
		{"no terminal", "(: </dev/tty) 2>/dev/null || echo none", "none\n", Exit{}},
		{"not found", "nosuchprogram 2>/dev/null", "", Exit{Code: 127}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			got, err := runner(t).Run(t.Context(), sh(tt.script, &out))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Exit{}, "Duration")); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.output, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInputAndErrors(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	tests := []struct{ name, script, input, output, errors string }{
		{"read", "cat; echo oops >&2", "one line\n", "one line\n", "oops\n"},
		{"not read", "true", big, "", ""},
		{"read in part", "head -c 3", big, "xxx", ""},
		{"ends", "wc -c | tr -d ' '", big, "1048576\n", ""},
		{"left to a child", "sleep 100 >/dev/null 2>&1 <&0 & echo done", big, "done\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			c := sh(tt.script, &out)
			c.Input, c.Errors = []byte(tt.input), &errs
			if exit, err := runner(t).Run(t.Context(), c); err != nil || exit.Code != 0 {
				t.Errorf("Run = %+v, %v", exit, err)
			}
			if diff := cmp.Diff([]string{tt.output, tt.errors}, []string{out.String(), errs.String()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMoreInput checks that later input arrives while the program runs, and that a program may
// exit or close standard input without reading it.
func TestMoreInput(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"read", "read -r a; echo $a; read -r b; echo $b; cat", "one\ntwo\n"},
		{"not read", "exec <&-; echo done", "done\n"},
		{"ended", "read -r a; exit", ""},
	} {
		var r Runner
		var out bytes.Buffer
		more := make(chan []byte, 1)
		if tt.name == "read" {
			more <- []byte("two\n")
			close(more)
		}
		_, err := r.Run(t.Context(), Cmd{Path: "/bin/sh", Args: []string{"-c", tt.script}, Input: []byte("one\n"), More: more, Output: &out})
		if err != nil || out.String() != tt.want {
			t.Errorf("%s: %q, %v", tt.name, out.String(), err)
		}
		r.Close()
	}
}

func TestCloseDoesNotWaitForThoseWhoLeft(t *testing.T) {
	r := &Runner{}
	var out bytes.Buffer
	c := sh("setsid sh -c 'echo $$; exec sleep 100' &", &out)
	if _, err := r.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r.Close() // must return
	if left, err := strconv.Atoi(strings.TrimSpace(out.String())); err == nil {
		syscall.Kill(left, syscall.SIGKILL) // ok: nothing else kills it
	}
}

func TestRunDoesNotStart(t *testing.T) {
	r := runner(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := t.TempDir() + "/started"
	if _, err := r.Run(ctx, sh("touch "+marker, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if _, err := r.Run(t.Context(), Cmd{Path: "/nosuchprogram"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
	r.Close()
	if _, err := r.Run(t.Context(), sh("touch "+marker, nil)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed runner: %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program started")
	}
}

// lines delivers a program's output line by line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l <- strings.TrimSpace(line)
	}
	return len(p), nil
}

func pid(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("not a process: %q", s)
	}
	return n
}

// gone reports whether a process has exited; it may be a zombie.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

// eventually fails the test if ok does not become true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(what)
		}
	}
}

func TestCancelEndsTheWholeGroup(t *testing.T) {
	tests := []struct{ name, script string }{
		{"obedient", "sleep 100 & echo $!; wait"},
		{"two in the background", "sleep 100 & sleep 100 & echo $!; sleep 100"},
		{"deaf child", `sh -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' & wait`},
		{"deaf", `trap "" TERM; echo $$; while :; do sleep 0.05; done`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := runner(t)
			ctx, cancel := context.WithCancel(t.Context())
			out := make(lines, 10)
			type answer struct {
				exit Exit
				err  error
			}
			done := make(chan answer)
			go func() {
				exit, err := r.Run(ctx, sh(tt.script, out))
				done <- answer{exit, err}
			}()
			child := pid(t, <-out)
			start := time.Now()
			cancel()
			got := <-done
			if took := time.Since(start); took > time.Minute { // the programs would run longer
				t.Errorf("Run returned %v after the cancellation", took)
			}
			if got.err != nil || !got.exit.Cancelled || got.exit.TimedOut {
				t.Errorf("Run = %+v, %v", got.exit, got.err)
			}
			eventually(t, "a process survived", func() bool { return gone(child) })
			r.wg.Wait()
		})
	}
}

func TestTimeout(t *testing.T) {
	// On a busy machine a program may need longer to print its first line.
	for limit, said := 50*time.Millisecond, ""; said == "" && limit < time.Minute; limit *= 4 {
		var out bytes.Buffer
		c := sh("echo begun; exec sleep 100", &out)
		c.Timeout = limit
		got, err := runner(t).Run(t.Context(), c)
		want := Exit{Code: -1, Signal: "terminated", TimedOut: true}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Exit{}, "Duration")); diff != "" || err != nil {
			t.Errorf("error %v, exit (-want +got):\n%s", err, diff)
		}
		if said = out.String(); got.Duration < limit || said != "" && said != "begun\n" {
			t.Errorf("after %v: %q", got.Duration, said)
		}
	}
}

func TestBackgroundProgramsRunOnUntilClose(t *testing.T) {
	r := runner(t)
	out := make(lines, 10)
	if _, err := r.Run(t.Context(), sh("(while echo alive >&2; do sleep 0.05; done) 3>&1 1>&2 & echo $!", out)); err != nil {
		t.Fatal(err)
	}
	var child int
	for child == 0 {
		if line := <-out; line != "alive" {
			child = pid(t, line)
		}
	}
	if gone(child) {
		t.Error("the background program died with its parent")
	}
	r.Close()
	eventually(t, "the background program survived Close", func() bool { return gone(child) })
}

func TestTooMuchOutputEndsTheProgram(t *testing.T) {
	s := NewSpool(t.TempDir(), 1<<10, 1<<20)
	defer s.Close()
	got, err := runner(t).Run(t.Context(), sh("yes", s))
	if !errors.Is(err, ErrSpoolFull) || !got.Cancelled {
		t.Errorf("Run = %+v, %v", got, err)
	}
	if s.Size() != 1<<20 {
		t.Errorf("kept %d bytes", s.Size())
	}
}

func TestScrubEnv(t *testing.T) {
	keep := []string{"PATH=/bin", "HOME=/h", "SSH_AUTH_SOCK=/s", "GOPATH=/g", "GITHUB_TOKEN=t", "OPENAI_MODEL=x", "ENVIRONMENT=dev", "A=b=c"}
	drop := []string{
		"ADZE_HOME=/x", "ANTHROPIC_API_KEY=k", "anthropic_auth_token=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k", "CLAUDE_CODE_SIMPLE=1",
		"LD_PRELOAD=x", "DYLD_INSERT_LIBRARIES=x", "BASH_ENV=x", "ENV=x", "PROMPT_COMMAND=x", "PS4=x", "IFS=x", "CDPATH=x", "SHELLOPTS=x",
		"BASH_FUNC_ls%%=() { evil; }", "=C:=x",
	}
	environ := append(append([]string{}, keep...), drop...)
	if diff := cmp.Diff(keep, ScrubEnv(environ)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(environ) != len(keep)+len(drop) || environ[len(environ)-1] != "=C:=x" {
		t.Error("the given list was changed")
	}
}
