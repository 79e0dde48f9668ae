//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"adze/internal/msg"
	"adze/internal/platform/proc/osproc"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tool/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// in returns the tool with the working directory dir.
func in(t testing.TB, dir string) tool.Tool {
	r := &osproc.Runner{Grace: 200 * time.Millisecond}
	t.Cleanup(r.Close)
	return New(Config{Config: command.Config{Dir: func() string { return dir }, Runner: r, TempDir: t.TempDir()}})
}

func input(command string) string {
	data, _ := json.Marshal(Input{Command: command}) // ok: always marshals
	return string(data)
}

func run(t testing.TB, tl tool.Tool, input string) tool.Result {
	t.Helper()
	call, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	judge(call)
	res, err := call.Run(context.Background(), func(tool.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// judge marks a call as checked, and as allowed if it is read-only.
func judge(c tool.Call) { tool.CommandOf(c).Judged(nil) }

func TestContract(t *testing.T) {
	dir := t.TempDir()
	tooltest.Run(t, in(t, dir), tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"output":  `{"command":"echo hello"}`,
			"silent":  `{"command":"true"}`,
			"failure": `{"command":"exit 3"}`,
			"signal":  `{"command":"kill -9 $$"}`,
			"long":    `{"command":"yes | head -c 300000"}`,
		},
		Slow: `{"command":"sleep 100"}`,
		Dir:  dir,
	})
}

// Proves SHTO-01.
func TestRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, input, want string
		failed            bool
		structured        command.Output
	}{
		{"output", input("echo a; echo b >&2; echo c"), "a\nb\nc", false, command.Output{Stdout: "a\nb\nc"}},
		{"directory", input("pwd"), dir, false, command.Output{Stdout: dir}},
		{"silent", input("true"), "The command succeeded and printed nothing.", false, command.Output{}},
		{"failure", input("echo no; exit 3"), "no\nExit code 3", true, command.Output{Stdout: "no", ExitCode: 3}},
		{"silent failure", input("false"), "Exit code 1", true, command.Output{ExitCode: 1}},
		{"missing program", input("nosuchprogram 2>/dev/null"), "Exit code 127", true, command.Output{ExitCode: 127}},
		{"signal", input("kill -9 $$"), "The command was ended by a signal (killed).", true, command.Output{ExitCode: -1, Signal: "killed"}},
		{"nothing to read", input("cat; echo end"), "end", false, command.Output{Stdout: "end"}},
		{"colours", input(`printf '\033[31mred\033[0m\n10%%\r100%%\n'`), "red\n100%", false, command.Output{Stdout: "red\n100%"}},
		{"blank lines", input(`printf '\n \n  a\n\nb\n\n \n'`), "  a\n\nb", false, command.Output{Stdout: "  a\n\nb"}},
		{"blanks at the end", input(`printf 'end   '; : > x`), "end   ", false, command.Output{Stdout: "end   "}},                              // S7
		{"another encoding", input(`printf '\201\237\240'; : > x`), "\uFFFD\uFFFD\uFFFD", false, command.Output{Stdout: "\uFFFD\uFFFD\uFFFD"}}, // S6
		{"not UTF-8", input(`printf 'a\377b'`), "a\uFFFDb", false, command.Output{Stdout: "a\uFFFDb"}},
		{"time limit", `{"command":"echo begun; exec sleep 100","timeout":100}`,
			"begun\nThe command exceeded its time limit of 100 ms and was stopped. Its output up to then:", true,
			command.Output{Stdout: "begun", ExitCode: -1, Signal: "terminated", TimedOut: true}},
		{"limit too long", `{"command":"echo a","timeout":900000}`, "a\n(The time limit was 600000 ms, the longest there is.)", false, command.Output{Stdout: "a"}},
		{"limit absurd", `{"command":"echo a","timeout":9223372036854775807}`, "a\n(The time limit was 600000 ms, the longest there is.)", false, command.Output{Stdout: "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, in(t, dir), tt.input)
			if diff := cmp.Diff(tt.want, msg.PlainText(res.Parts)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.structured, res.Structured, cmpopts.IgnoreFields(command.Output{}, "DurationMs")); diff != "" {
				t.Errorf("structured (-want +got):\n%s", diff)
			}
			if res.IsError != tt.failed || res.Body != nil {
				t.Errorf("IsError = %v, Body = %v", res.IsError, res.Body)
			}
			d := res.Display.(tool.Output)
			if d.Exit == nil || *d.Exit != tt.structured.ExitCode || d.Command == "" {
				t.Errorf("display %+v", d)
			}
		})
	}
}

func TestBindRefuses(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"empty", input(""), "the command is empty"},
		{"blank", input(" \n"), "the command is empty"},
		{"null byte", input("a\x00b"), "null byte"},
		{"long", input(strings.Repeat("ä", 100_000+1)), "write it to a script file"},
		{"no time", `{"command":"a","timeout":0}`, "timeout: expected a number of at least 1, received 0"},
		{"half a millisecond", `{"command":"a","timeout":0.5}`, "timeout: expected integer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := in(t, "/").Bind(json.RawMessage(tt.input))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Bind = %v, want %q in it", err, tt.want)
			}
		})
	}
	if _, err := in(t, "/").Bind(json.RawMessage(input(strings.Repeat("ä", 100_000)))); err != nil {
		t.Errorf("the longest command: %v", err)
	}
}

func TestDirectoryGone(t *testing.T) {
	call, err := in(t, "/nosuchdirectory").Bind(json.RawMessage(input("pwd")))
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.Run(t.Context(), nil)
	if err == nil || err.Error() != "the working directory /nosuchdirectory does not exist any more" {
		t.Errorf("Run = %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("ADZE_TEST", "x")
	t.Setenv("BASH_ENV", "/nosuchfile")
	t.Setenv("LD_BIND_NOW", "1")
	t.Setenv("GIVEN", "yes")
	got := msg.PlainText(run(t, in(t, t.TempDir()), input("env")).Parts)
	for _, name := range []string{"ANTHROPIC_API_KEY", "ADZE_TEST", "BASH_ENV", "LD_BIND_NOW", "sk-secret"} {
		if strings.Contains(got, name) {
			t.Errorf("a command sees %s", name)
		}
	}
	for _, entry := range []string{"GIVEN=yes", "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"} {
		if !strings.Contains(got, entry) {
			t.Errorf("a command does not see %s", entry)
		}
	}
}

func TestLongOutputBecomesTheBody(t *testing.T) {
	dir := t.TempDir()
	r := new(osproc.Runner)
	t.Cleanup(r.Close)
	temp := t.TempDir()
	tl := New(Config{Config: command.Config{Dir: func() string { return dir }, Runner: r, TempDir: temp}})
	res := run(t, tl, input("seq 1 100000; exit 4"))
	if got := msg.PlainText(res.Parts); got != "Exit code 4" || !res.IsError {
		t.Errorf("text %q, error %v", got, res.IsError)
	}
	var want strings.Builder
	for i := range 100_000 {
		want.WriteString(strconv.Itoa(i+1) + "\n")
	}
	if res.Body == nil || res.Body.Size() != int64(want.Len()) {
		t.Fatalf("body %v", res.Body)
	}
	body, err := res.Body.Open()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(body)
	if err != nil || string(got) != want.String() {
		t.Errorf("the body has %d bytes, %v", len(got), err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	s := res.Structured.(command.Output)
	if !s.Truncated || len(s.Stdout) > 2*command.DefaultMaxChars || !strings.HasPrefix(s.Stdout, "1\n2\n") || !strings.HasSuffix(s.Stdout, "100000\n") || !strings.Contains(s.Stdout, "bytes left out") {
		t.Errorf("structured output of %d bytes", len(s.Stdout))
	}
	if d := res.Display.(tool.Output); d.Lines != 100_000 || !strings.HasSuffix(d.Text, "99996\n99997\n99998\n99999\n100000") {
		t.Errorf("display %+v", d)
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	call, err := in(t, dir).Bind(json.RawMessage(input("echo $$ > fifo; echo begun; sleep 100; echo never")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan tool.Result)
	go func() {
		res, err := call.Run(ctx, func(p tool.Progress) {
			if p.Display.(tool.Output).Text == "begun" {
				cancel()
			}
		})
		if err != nil {
			t.Error(err)
		}
		results <- res
	}()
	shell, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	start := time.Now()
	res := <-results
	if took := time.Since(start); took > time.Minute { // the command runs for longer
		t.Errorf("the result came %v after the cancellation", took)
	}
	got := msg.PlainText(res.Parts)
	if !strings.HasPrefix(got, "begun\nThe command was interrupted after ") || !res.IsError || !res.Structured.(command.Output).Interrupted {
		t.Errorf("text %q, structured %+v", got, res.Structured)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(shell)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the shell is still there: %v", err)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	call, err := in(t, dir).Bind(json.RawMessage(input("seq 1 9; printf '%0300d\\n' 7; cat fifo")))
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan tool.Output, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := call.Run(t.Context(), func(p tool.Progress) { shown <- p.Display.(tool.Output) }); err != nil {
			t.Error(err)
		}
	}()
	got := <-shown
	for got.Lines < 10 { // a slow machine may report fewer at first
		got = <-shown
	}
	want := tool.Output{Command: call.Input().(Input).Command, Text: "6\n7\n8\n9\n" + strings.Repeat("0", 199) + "…", Lines: 10, Stays: true} // no background here
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(tool.Output{}, "Elapsed")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := os.WriteFile(fifo, []byte("end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-done
}

func TestCapabilities(t *testing.T) {
	call, err := in(t, "/").Bind(json.RawMessage(`{"command":"go test\n./...","description":"Runs tests"}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tool.Facts{OpenWorld: true}, tool.FactsOf(call)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	got := []string{tool.TitleOf("Bash", call), tool.ActivityOf("Bash", call)}
	if diff := cmp.Diff([]string{"Run go test ./...", "Running go test ./..."}, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	for content, want := range map[string]bool{"go test\n./...": true, " go test\n./... ": true, "go test": true, "go *": true, "go:*": true, "*": true, "npm:*": false, "go build": false} {
		if got, err := tool.Matches(call, content); got != want || err != nil {
			t.Errorf("Match(%q) = %v, %v", content, got, err)
		}
	}
	traits := in(t, "/").Traits()
	if err := traits.Enabled(); err != nil || traits.MaxChars != 30_000 || !traits.Shell || !traits.KeepTail || traits.Waits || !traits.Clearable {
		t.Errorf("traits %+v, enabled %v", traits, err)
	}
}

func TestWithoutAShell(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := in(t, "/").Traits().Enabled(); err == nil || err.Error() != "neither bash nor sh is installed" {
		t.Errorf("Enabled = %v", err)
	}
}

// Proves SH-06.
func TestDocPrefersDedicatedTools(t *testing.T) {
	doc := in(t, "/").Spec().Description
	for _, name := range []string{"Read", "Edit", "Write", "Glob", "Grep"} {
		if !strings.Contains(doc, name) {
			t.Errorf("the description does not name %s", name)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
