//go:build linux && !race

package witness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// searchPath is the PATH of the program under test.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// timeout bounds lines, because some never end.
const timeout = 700 * time.Millisecond

// A result is the tool's answer to a line.
type result struct {
	IsError    bool   `json:"is_error"`
	Text       string `json:"text"`
	Structured *struct {
		Stdout    string `json:"stdout"`
		Stderr    string `json:"stderr"`
		ExitCode  int    `json:"exitCode"`
		Signal    string `json:"signal"`
		TimedOut  bool   `json:"timedOut"`
		Truncated bool   `json:"truncated"`
	} `json:"structured"`
}

// ran reports whether the line ran: it needed no prompt, which can't be answered here.
func (r result) ran() bool { return r.Structured != nil }

// late reports whether the line timed out. It may continue in the background.
func (r result) late() bool {
	return r.Structured.TimedOut || strings.Contains(r.Text, "continues in the background")
}

// A driver sends lines one by one to a program that applies the permission rules for a model's
// calls.
type driver struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *strings.Builder
	home   string // start directory of lines

	timeout time.Duration // per line

	mu     sync.Mutex
	starts []float64 // start time of each line
	lines  []string
}

// environment returns the program's environment.
func (s *stage) environment() []string {
	return []string{
		"PATH=" + searchPath, "HOME=" + s.home, "LANG=C", "USER=" + s.user.name, "SHELL=/bin/bash", "GODEBUG=asyncpreemptoff=1", asAdze + "=1",
		"ANTHROPIC_API_KEY=" + secret + "-key", "GITHUB_TOKEN=" + secret + "-token", "AWS_SECRET_ACCESS_KEY=" + secret + "-aws", "DB_PASSWORD=" + secret + "-db",
	}
}

// drive starts the program in the workspace, wrapped by wrap, with args for adze tool.
func (s *stage) drive(ctx context.Context, t *testing.T, env, wrap []string, args ...string) *driver {
	t.Helper()
	words := slices.Concat(wrap, []string{s.adze, "tool", "--stdin"}, args)
	d := &driver{stderr: &strings.Builder{}, home: s.ws, timeout: timeout}
	d.cmd = exec.CommandContext(ctx, words[0], words[1:]...)
	d.cmd.Dir, d.cmd.Env, d.cmd.Stderr = s.ws, env, d.stderr
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	d.cmd.Cancel = func() error { return syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) }
	if os.Getuid() == 0 && (len(wrap) == 0 || filepath.Base(wrap[0]) != "strace") { // strace switches the user itself
		d.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.user.uid), Gid: uint32(s.user.gid)}
	}
	in, err := d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.in, d.out = in, bufio.NewReaderSize(out, 1<<20)
	return d
}

// moves matches lines that may leave their start directory.
var moves = regexp.MustCompile(`\b(cd|pushd|popd)\b`)

// line runs one line, and returns to the start directory.
func (d *driver) line(line string) (result, error) {
	r, err := d.send(line)
	if err == nil && r.ran() && moves.MatchString(line) {
		_, err = d.send("cd " + d.home)
	}
	return r, err
}

func (d *driver) send(line string) (result, error) {
	d.mu.Lock()
	d.starts = append(d.starts, now())
	d.lines = append(d.lines, line)
	n := len(d.lines) - 1
	d.mu.Unlock()
	call, err := json.Marshal(map[string]any{"id": n, "tool": "Bash", "input": map[string]any{
		"command": line, "description": "a line of the corpus", "timeout": d.timeout.Milliseconds(),
	}})
	if err != nil {
		return result{}, err
	}
	if _, err := d.in.Write(append(call, '\n')); err != nil {
		return result{}, fmt.Errorf("giving %q: %w\n%s", line, err, d.stderr)
	}
	answer, err := d.out.ReadBytes('\n')
	if err != nil {
		return result{}, fmt.Errorf("the answer to %q: %w\n%s", line, err, d.stderr)
	}
	var r result
	return r, json.Unmarshal(answer, &r)
}

// lineAt returns the number of the line that ran at a time.
func (d *driver) lineAt(at float64) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, _ := slices.BinarySearchFunc(d.starts, at, func(start, at float64) int {
		if start <= at {
			return -1
		}
		return 1
	})
	return i - 1
}

// text returns the line with the given number.
func (d *driver) text(n int) string {
	if n < 0 || n >= len(d.lines) {
		return "(none)"
	}
	return d.lines[n]
}

// close ends the program.
func (d *driver) close() error {
	if err := d.in.Close(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, d.out); err != nil {
		return err
	}
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, d.stderr)
	}
	return nil
}

func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

// A run is a traced program that executes lines.
type run struct {
	*driver
	stage *stage
	judge *judge
	read  chan error // receives the end of the trace

	figures
}

// figures counts the lines of a run by outcome.
type figures struct {
	given, ran, timedOut int
}

// watch starts the program under strace.
func (s *stage) watch(ctx context.Context, t *testing.T, args ...string) *run {
	t.Helper()
	return s.watchIn(ctx, t, s.environment(), nil, args...)
}

// watchIn is watch with an environment and further strace options.
func (s *stage) watchIn(ctx context.Context, t *testing.T, env, options []string, args ...string) *run {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("strace is the witness: %v", err)
	}
	fifo := filepath.Join(s.top, "trace")
	if err := os.Remove(fifo); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	wrap := []string{strace, "-f", "--seccomp-bpf", "-ttt", "-y", "-s", "200", "-e", "signal=none", "-e", "trace=?" + strings.Join(traced, ",?"), "-o", fifo}
	wrap = append(wrap, options...)
	if s.user.uid != os.Getuid() {
		wrap = append(wrap, "-u", s.user.name)
	}
	r := &run{stage: s, read: make(chan error, 1)}
	r.judge = s.newJudge(t)
	r.driver = s.drive(ctx, t, env, wrap, args...)
	r.judge.tracer = newTracer(r.lineAt, r.judge.see)
	go func() {
		f, err := os.Open(fifo)
		if err == nil {
			err = r.judge.tracer.run(f)
			f.Close() // ok: it was read to its end
		}
		r.read <- err
	}()
	return r
}

// try runs a line and records its outcome.
func (r *run) try(t *testing.T, line string) result {
	t.Helper()
	n := len(r.driver.lines)
	got, err := r.line(line)
	if err != nil {
		t.Fatal(err)
	}
	r.given++
	if got.ran() {
		r.ran++
		if got.late() {
			r.timedOut++
		}
	}
	if out := got.output(); strings.Contains(out, secret) && !strings.Contains(line, secret) {
		r.judge.leaked(n, excerpt(out))
	}
	return got
}

// output returns all visible output of a result.
func (r result) output() string {
	if !r.ran() {
		return ""
	}
	return r.Structured.Stdout + "\n" + r.Structured.Stderr + "\n" + r.Text
}

// excerpt returns the line of out that contains a secret.
func excerpt(out string) string {
	at := strings.Index(out, secret)
	return fmt.Sprintf("%.60q", out[at:])
}

// end ends the program and waits for the end of the trace.
func (r *run) end(t *testing.T) {
	t.Helper()
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if err := <-r.read; err != nil {
		t.Errorf("reading the trace: %v", err)
	}
	os.Remove(filepath.Join(r.stage.top, "trace")) // ok: the directory goes with the test
}

// changed compares the stage with its original state.
func (r *run) changed(t *testing.T) {
	t.Helper()
	after := r.stage.state(t)
	for path, was := range r.stage.before {
		if is, ok := after[path]; !ok {
			t.Errorf("%s: %s is gone", r.stage.user.name, path)
		} else if is != was {
			t.Errorf("%s: %s changed:\n%s\n%s", r.stage.user.name, path, was, is)
		}
	}
	for path := range after {
		if _, ok := r.stage.before[path]; !ok {
			t.Errorf("%s: %s appeared", r.stage.user.name, path)
		}
	}
}
