//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/tool"
)

// contextOf returns the output of a prompt's hooks.
func contextOf(t *testing.T, r *Runner) string {
	t.Helper()
	out := r.Fire(t.Context(), OnUserPromptSubmit("hi"))
	for _, text := range out.Messages {
		t.Error(text)
	}
	return msg.PlainText(out.Context)
}

// Proves HOOK-10, HOOK-12.
func TestCommandIsGivenItsInput(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	r, _ := start(t, Config{Dir: dir}, on(UserPromptSubmit, command("cat >seen; pwd; echo $0")))
	got := contextOf(t, r)
	if !strings.Contains(got, dir+"\n") || !strings.Contains(got, "bash") {
		t.Errorf("the hook ran elsewhere or in another shell: %q", got)
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(data), "\"prompt\":\"hi\"}\n") || strings.Count(string(data), "\n") != 1 || !json.Valid(data) {
		t.Errorf("input %q", data)
	}
}

// Proves HOOK-12.
func TestCommandNeedNotReadItsInput(t *testing.T) {
	r, said := start(t, Config{}, on(PostToolUse, command("true")))
	big := &tool.Result{Structured: strings.Repeat("x", 1<<20)}
	out := r.Fire(t.Context(), OnPostToolUse(shell(t, "ls"), big))
	if !reflect.DeepEqual(out, Outcome{}) || len(said.get(&said.notes)) > 0 {
		t.Errorf("%+v, %q", out, said.notes)
	}
}

// Proves HOOK-10.
func TestShells(t *testing.T) {
	dir := t.TempDir()
	r, said := start(t, Config{Dir: dir, Common: func() Common { return Common{Dir: filepath.Join(dir, "gone")} }},
		on(UserPromptSubmit, command("echo in $PWD", `"shell":"sh"`)), on(Stop, command("x", `"shell":"nosuchshell"`)))
	if got := contextOf(t, r); !strings.Contains(got, "in "+dir) {
		t.Errorf("after the working directory vanished: %q", got)
	}
	for range 2 {
		if out := r.Fire(t.Context(), OnStop(false, "")); len(out.Messages) > 0 {
			t.Error(out.Messages)
		}
	}
	want := []string{"hooks cannot run: no shell was found: add nosuchshell to PATH"}
	if diff := cmp.Diff(want, said.get(&said.notes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ps := &launcher{cfg: &Config{
		lookPath: func(name string) (string, error) { return "/opt/" + name, nil },
		Environ:  func() []string { return nil },
	}}
	c, err := ps.program(t.Context(), &job{hook: &hook{spec: &spec{handler: handler{command: "ls", shell: "powershell"}, source: &Source{}}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/opt/pwsh", "-NoProfile", "-NonInteractive", "-Command", "ls"}, append([]string{c.Path}, c.Args...)); diff != "" {
		t.Errorf("PowerShell (-want +got):\n%s", diff)
	}
}

// gone reports whether a process has ended, even if it has not been reaped.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
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

// pids reads the process IDs that a hook wrote to a file.
func pids(t *testing.T, file string) []int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, field := range strings.Fields(string(data)) {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// Proves HOOK-13.
func TestTimeoutLeavesNoProcess(t *testing.T) {
	tests := []struct{ name, script string }{
		{"plain", "echo $$ >pids; sleep 100"},
		{"children", "sleep 100 & echo $$ $! >pids; wait"},
		{"deaf", "trap '' TERM; echo $$ >pids; while :; do sleep 0.05; done"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r, _ := start(t, Config{Dir: dir}, on(PreToolUse, command(tt.script, `"timeout":3`)))
			begin := time.Now()
			out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls")))
			if took := time.Since(begin); took < 2900*time.Millisecond || took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if !strings.Contains(out.Reason, "it was ended after 3s, its time limit") {
				t.Errorf("reason %q", out.Reason)
			}
			if last := r.List()[0].Last; last == nil || last.Outcome != "cancelled" {
				t.Errorf("it is listed as %+v", last)
			}
			for _, pid := range pids(t, filepath.Join(dir, "pids")) {
				eventually(t, "a process survived", func() bool { return gone(pid) })
			}
			if took := time.Since(begin); tt.name == "deaf" && took < 4900*time.Millisecond {
				t.Errorf("it was killed after %v, and not 2 seconds after it was asked to end", took)
			}
		})
	}
}

func TestTimeLimits(t *testing.T) {
	tests := []struct {
		event Name
		typ   Type
		set   time.Duration
		want  time.Duration
	}{
		{PreToolUse, TypeCommand, 0, 10 * time.Minute},
		{UserPromptSubmit, TypeCommand, 0, 30 * time.Second},
		{UserPromptSubmit, TypeCommand, time.Hour, time.Hour},
		{SessionEnd, TypeCommand, 0, 1500 * time.Millisecond},
		{SessionEnd, TypeCommand, time.Minute, time.Minute},
	}
	for _, tt := range tests {
		k, _ := kindOf(tt.event)
		if got := (&spec{handler: handler{typ: tt.typ}, timeout: tt.set}).limit(k, defaultSessionEnd); got != tt.want {
			t.Errorf("%s %s %v: %v, want %v", tt.event, tt.typ, tt.set, got, tt.want)
		}
	}
}

func TestCancelEndsHooks(t *testing.T) {
	dir := t.TempDir()
	started := make(chan struct{})
	rec := &recorder{progress: func() { close(started) }}
	r, said := start(t, Config{Dir: dir, Observer: rec}, on(PreToolUse, command("echo $$ >pids; while :; do echo up >&2; sleep 0.1; done")))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	out := r.Fire(ctx, OnPreToolUse(shell(t, "ls")))
	if out.Decision != tool.Ask {
		t.Errorf("a cancelled guard decides %d", out.Decision)
	}
	if notes := said.get(&said.notes); len(notes) > 0 {
		t.Errorf("who cancels knows: %q", notes)
	}
	eventually(t, "a process survived", func() bool { return gone(pids(t, filepath.Join(dir, "pids"))[0]) })
}

// TestForkThatHoldsThePipe checks that a hook's child that holds its output open does not block
// the event.
func TestForkThatHoldsThePipe(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir}, on(UserPromptSubmit, command("sleep 100 & echo $! >pids; echo done")))
	if got := contextOf(t, r); !strings.Contains(got, "done") {
		t.Errorf("context %q", got)
	}
	if gone(pids(t, filepath.Join(dir, "pids"))[0]) {
		t.Error("the event waited for the child")
	}
	r.Close()
	eventually(t, "a process survived the session", func() bool { return gone(pids(t, filepath.Join(dir, "pids"))[0]) })
}

// saved stores results in a directory.
type saved string

func (dir saved) SaveResult(id, ext string, r io.Reader) (string, int64, error) {
	f, err := os.Create(filepath.Join(string(dir), id+ext))
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	n, err := io.Copy(f, r)
	return f.Name(), n, err
}

// Proves HOOK-20.
func TestLongOutputGoesToAFile(t *testing.T) {
	long := `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"` + strings.Repeat("y", 60_000) + `"}}`
	tests := []struct {
		name, script string
		size         int64
	}{
		{"100 MB", "head -c 100000000 /dev/zero | tr '\\0' x", 100_000_000},
		{"a little too long", "head -c 50001 /dev/zero | tr '\\0' x", 50_001},
		{"in JSON", "echo '" + long + "'", 60_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			r, _ := start(t, Config{Results: saved(dir)}, on(UserPromptSubmit, command(tt.script)))
			got := contextOf(t, r)
			_, rest, ok := strings.Cut(got, "and was saved to ")
			if !ok || len(got) > 3000 {
				t.Fatalf("%d characters: %.200s", len(got), got)
			}
			path, _, _ := strings.Cut(rest, ".]")
			info, err := os.Stat(path)
			if err != nil || info.Size() != tt.size {
				t.Errorf("saved: %v, %v", info, err)
			}
		})
	}
	r, _ := start(t, Config{}, on(UserPromptSubmit, command("head -c 50000 /dev/zero | tr '\\0' x")))
	if got := contextOf(t, r); strings.Contains(got, "[The output") {
		t.Error("an output of 50,000 characters is not too long")
	}
}

func TestEndlessOutputIsNoVerdict(t *testing.T) {
	r, _ := start(t, Config{}, on(PreToolUse, command("head -c 300000000 /dev/zero")))
	if out := r.Fire(t.Context(), OnPreToolUse(shell(t, "ls"))); out.Decision != tool.Ask || !strings.Contains(out.Reason, "it printed more than 256 MB") {
		t.Errorf("%d: %s", out.Decision, out.Reason)
	}
}
