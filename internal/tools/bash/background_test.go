//go:build unix

package bash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

func background(command string) string {
	data, _ := json.Marshal(Input{Command: command, Background: true, Description: "A task"}) // ok: always marshals
	return string(data)
}

// fifo creates a named pipe that a command can wait for.
func fifo(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Proves SHBG-01, SHBG-04.
func TestBackground(t *testing.T) {
	b := newBench(t, nil)
	gate := fifo(t, b.root)
	res := run(t, b, background("echo begun; cat fifo; exit 3"))
	out := res.Structured.(command.Output)
	tk, err := b.tasks.Get(out.TaskID)
	if err != nil || res.IsError || out.OutputFile != tk.Output.Path() || !strings.Contains(msg.PlainText(res.Parts), out.TaskID) {
		t.Fatalf("%v: %+v", err, res)
	}
	if err := os.WriteFile(gate, []byte("end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := <-b.notices
	if n.ID != tk.ID || n.Status != task.Failed || n.Summary != `Background command "A task" failed (exit code 3)` || n.Tail != "begun\nend" {
		t.Errorf("%+v", n)
	}
	if data, _ := os.ReadFile(out.OutputFile); string(data) != "begun\nend\n" {
		t.Errorf("the file has %q", data)
	}
	tk.Output.Discard()
}

// Proves SHBG-01.
func TestBackgroundDisabled(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Tasks = nil })
	call, err := b.Bind(json.RawMessage(background("touch ran; exit 0")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context(), func(tool.Progress) {}); err == nil || !strings.Contains(err.Error(), "background tasks are disabled") {
		t.Errorf("Run = %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.root, "ran")); err == nil {
		t.Error("it ran")
	}
}

// Proves SHBG-02.
func TestBudget(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Budget = 100 * time.Millisecond })
	gate := fifo(t, b.root)
	res := run(t, b, input("echo one; cat fifo; echo three; exit 0"))
	text, out := msg.PlainText(res.Parts), res.Structured.(command.Output)
	if !strings.HasPrefix(text, "one\nThe command is still running after 100ms") || out.TaskID == "" || out.Stdout != "one" || res.IsError {
		t.Fatalf("%q, %+v", text, out)
	}
	if err := os.WriteFile(gate, []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := <-b.notices; n.Status != task.Completed {
		t.Errorf("%+v", n)
	}
	if data, _ := os.ReadFile(out.OutputFile); string(data) != "one\ntwo\nthree\n" {
		t.Errorf("the file has %q", data)
	}
}

// TestTimeoutComesBeforeBudget checks that a call with an explicit time limit is not moved to
// the background earlier.
//
// Proves SHBG-02.
func TestTimeoutComesBeforeBudget(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Budget = 20 * time.Millisecond })
	res := run(t, b, `{"command":"sh -c 'sleep 0.2; echo over'","timeout":60000}`)
	if out := res.Structured.(command.Output); out.TaskID != "" || out.Stdout != "over" {
		t.Errorf("%+v", out)
	}
}

// TestWaitingIsDescribed checks that the tool description matches the behavior.
//
// Proves SHBG-02.
func TestWaitingIsDescribed(t *testing.T) {
	for _, tt := range []struct {
		name      string
		change    func(*Config)
		has, lack string
	}{
		{"budget", func(c *Config) { c.Budget = 15 * time.Second }, "without it you wait 15000.", "120000"},
		{"no budget", nil, "120000 by default, at most 600000.", "15000"},
		{"awaited", func(c *Config) { c.Awaited = true }, "does not end before background commands have", "15000"},
		{"no tasks", func(c *Config) { c.Tasks = nil }, "takes longer is ended", "background"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := newBench(t, tt.change).Spec().Description
			if !strings.Contains(doc, tt.has) || strings.Contains(doc, tt.lack) {
				t.Errorf("%s", doc)
			}
		})
	}
}

// TestGitIsDescribed checks that the description has the rules for git where they are needed.
// The wording is free (model-side 2.4 and 2.6).
//
// Proves CTX-02.
func TestGitIsDescribed(t *testing.T) {
	doc := newBench(t, nil).Spec().Description
	for _, c := range []struct{ concept, wordings string }{
		{"commit only when asked", `(commit|push).*only (when|if) (the user )?ask`},
		{"look first", `git status.*git diff.*git log`},
		{"stage by name", `stage.*(by name|only)|git add -A`},
		{"no secrets", `secrets.*\.env`},
		{"style of the log", `style of the log|convention`},
		{"a quoted here-document", `cat <<'EOF'`},
		{"after a hook", `hook (rejects|refuses|fails).*(again|new commit)`},
		{"no amending", `without --amend|not .*--amend|never .*--amend`},
		{"no skipping", `--no-verify`},
		{"configuration", `(never|not) (change|touch|update) the git config`},
		{"pull requests", `gh pr create.*URL`},
		{"no input", `no (input|terminal)|nothing can be typed`},
		{"no polling", `(not|never) (wait|poll).*sleep`},
		{"other tools", `Read, Grep, Glob, Edit and Write`},
		{"long output", `30000 characters.*beginning and end`},
		{"pipes", `exit code of its last`},
	} {
		if !regexp.MustCompile(`(?is)` + c.wordings).MatchString(doc) {
			t.Errorf("it does not say: %s", c.concept)
		}
	}
}

// Proves SHBG-03.
func TestWhatNeverGoesToTheBackground(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Budget = 20 * time.Millisecond })
	if res := run(t, b, input("sleep 0.2; exit 0")); res.Structured.(command.Output).TaskID != "" {
		t.Error("sleep was moved")
	}
	for command, want := range map[string]bool{
		"sleep 30": false, "vim x": false, "top": false, "ssh host": false, "ssh host ls": true, "make": true, "x; sleep 3": true, "for": true, "": true,
	} {
		if got := qualifies(shell.Parse(command, shell.Vars{}), false); got != want {
			t.Errorf("%q: %v", command, got)
		}
		if got := qualifies(shell.Parse(command+"; make", shell.Vars{}), true); got != want && command != "sleep 30" {
			t.Errorf("%q awaited: %v", command, got)
		}
	}
}

// TestAwaitedCommands checks that a command that does more than wait is not ended early where
// background commands are awaited.
//
// Proves SHBG-07.
func TestAwaitedCommands(t *testing.T) {
	if !qualifies(shell.Parse("sleep 1200; make", shell.Vars{}), true) || qualifies(shell.Parse("sleep 1200", shell.Vars{}), true) {
		t.Error("a command that only waits is confused with one that waits first")
	}
	b := newBench(t, nil)
	for input, want := range map[string]time.Duration{
		`{"command":"cat; cat fifo","timeout":10}`:                              time.Hour,
		`{"command":"cat; cat fifo","run_in_background":true}`:                  30 * time.Minute,
		`{"command":"cat; cat fifo","run_in_background":true,"timeout":300000}`: 5 * time.Minute,
	} {
		gate := fifo(t, b.root)
		run(t, b, input)
		tasks := b.tasks.List()
		if got := tasks[len(tasks)-1].Limit; got != want {
			t.Errorf("%s: awaited for %v, want %v", input, got, want)
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		<-b.notices
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves SHTO-02.
func TestTimeLimitMovesToTheBackground(t *testing.T) {
	b := newBench(t, nil)
	gate := fifo(t, b.root)
	res := run(t, b, `{"command":"echo one; cat fifo; exit 0","timeout":100}`)
	if text := msg.PlainText(res.Parts); !strings.Contains(text, "after its time limit of 100 ms and continues in the background") || res.IsError {
		t.Errorf("%q", text)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := <-b.notices; n.Status != task.Completed {
		t.Errorf("%+v", n)
	}
	// Without background tasks the command is killed, see TestRun, and so is a command that
	// does not qualify.
	res = run(t, b, `{"command":"sleep 100; exit 0","timeout":100}`)
	if text := msg.PlainText(res.Parts); !strings.Contains(text, "exceeded its time limit of 100 ms") || !res.IsError {
		t.Errorf("%q", text)
	}
}

// Proves SHBG-02.
func TestByHand(t *testing.T) {
	b := newBench(t, nil)
	gate := fifo(t, b.root)
	call, err := b.Bind(json.RawMessage(input("echo one; cat fifo; exit 0")))
	if err != nil {
		t.Fatal(err)
	}
	res, err := call.Run(t.Context(), func(p tool.Progress) {
		if p.Display.(tool.Output).Text == "one" {
			b.tasks.Detach()
		}
	})
	if err != nil || res.Structured.(command.Output).TaskID == "" {
		t.Fatalf("%v, %+v", err, res.Structured)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-b.notices
}

// Proves SHBG-06.
func TestTooManyInTheBackground(t *testing.T) {
	b := newBench(t, nil)
	for range task.MaxRunning {
		run(t, b, background("exec sleep 1000"))
	}
	call, err := b.Bind(json.RawMessage(background("touch ran; exit 0")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context(), func(tool.Progress) {}); err == nil || !strings.Contains(err.Error(), "A task") {
		t.Errorf("the 33rd: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.root, "ran")); err == nil {
		t.Error("it ran")
	}
	for _, tk := range b.tasks.List() {
		tk.Stop()
	}
	for range task.MaxRunning {
		if n := <-b.notices; n.Status != task.Killed {
			t.Errorf("%+v", n)
		}
	}
}

// TestBackgroundOutlivesTheCall checks that interrupting the turn does not end background
// tasks, but the end of the session does.
//
// Proves SHBG-06.
func TestBackgroundOutlivesTheCall(t *testing.T) {
	b := newBench(t, nil)
	run(t, b, background("exec sleep 1000")) // the call's context is done now
	tk := b.tasks.List()[0]
	if tk.Status() != task.Running {
		t.Errorf("it is %s", tk.Status())
	}
	b.tasks.Close()
	if tk.Status() != task.Killed {
		t.Errorf("after the session it is %s", tk.Status())
	}
}
