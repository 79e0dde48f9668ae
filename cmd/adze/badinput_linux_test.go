package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A bench is a running "adze tool --stdin": tools without a model.
type bench struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

// An outcome is the result of a call.
type outcome struct {
	Text       string
	IsError    bool `json:"is_error"`
	Structured struct {
		BackgroundTaskID string
		TimedOut         bool
		ExitCode         int
	}
}

// newBench starts the tools in a new directory. change may modify the command.
func newBench(t *testing.T, change func(*exec.Cmd)) *bench {
	t.Helper()
	cmd := adze(t, t.TempDir(), "say Nothing.", "tool", "--stdin")
	if change != nil {
		change(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	b.lines.Buffer(nil, 1<<20)
	return b
}

func (b *bench) call(name string, input map[string]any) outcome {
	b.t.Helper()
	line, err := json.Marshal(map[string]any{"id": 1, "tool": name, "input": input})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.stdin.Write(append(line, '\n')); err != nil || !b.lines.Scan() {
		b.t.Fatalf("%v, %v", err, b.lines.Err())
	}
	var o outcome
	if err := json.Unmarshal(b.lines.Bytes(), &o); err != nil {
		b.t.Fatalf("%v: %s", err, b.lines.Bytes())
	}
	return o
}

func (b *bench) bash(command string) outcome {
	b.t.Helper()
	return b.call("Bash", map[string]any{"command": command})
}

// end ends the program, and fails the test unless it exits cleanly.
func (b *bench) end() {
	b.t.Helper()
	b.stdin.Close() // ok: this ends it
	if err := b.cmd.Wait(); err != nil {
		b.t.Error(err)
	}
}

// TestWhatCommandsPrintIsText checks that command output is valid text when it is shown.
//
// Proves SHOUT-04.
func TestWhatCommandsPrintIsText(t *testing.T) {
	b := newBench(t, nil)
	tests := []struct{ name, command, want string }{
		{"invalid UTF-8", `printf 'a\xff\xfeb\xc3'`, "a\uFFFD\uFFFDb\uFFFD"},
		{"colours", `printf '\033[31mred\033[0m \033[1;4mbold\033[m'`, "red bold"},
		{"title and clipboard", `printf 'a\033]0;owned\007b\033]52;c;cm0gLXJm\033\\c'`, "abc"},
		{"screen", `printf '\033[2J\033[Hhome\033P1;2|junk\033\\!'`, "home!"},
		{"8-bit escapes", `printf 'a\xc2\x9b31mb'`, "ab"},
		{"progress", `printf '10%%\r20%%\r100%%\n'`, "100%"},
		{"null bytes", `printf 'a\0b'`, "ab"},
	}
	for _, tt := range tests {
		if got := b.bash(tt.command + "; :; x=1"); got.IsError || got.Text != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got.Text, tt.want)
		}
	}
	got := b.bash("head -c 300000 /dev/urandom; x=1")
	if got.IsError || !utf8.ValidString(got.Text) || len(got.Text) > 150_000 {
		t.Errorf("binary output: %d bytes, error %v", len(got.Text), got.IsError)
	}
	if i := strings.IndexFunc(got.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		t.Errorf("binary output: a control character at %d", i)
	}
	b.end()
}

// TestUnseenCharactersInCommands checks that invisible characters in commands do not go
// unnoticed: a null byte is refused, and others require a prompt.
//
// Proves SH-01, SHAST-02.
func TestUnseenCharactersInCommands(t *testing.T) {
	b := newBench(t, nil)
	if got := b.bash("echo a\x00b"); !got.IsError || !strings.Contains(got.Text, "null byte") {
		t.Errorf("a null byte: %q", got.Text)
	}
	if got := b.bash("echo a\rtouch made"); got.IsError {
		t.Errorf("a carriage return that was allowed: %q", got.Text)
	}
	if _, err := os.Stat(filepath.Join(b.cmd.Dir, "made")); err == nil {
		t.Error("bash and we read a carriage return differently")
	}
	b.end()
	for _, command := range []string{"ls\r", "ls \u202eabc", "ls\u200b", "ls \u2066x\u2069", "ls\u00a0x"} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		cmd := adze(t, t.TempDir(), fmt.Sprintf("use Bash %s\n---\nexpect error-result toolu_1_1 \"\"\nsay Refused.", input), "-p", "go", "--model", "sonnet")
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "Refused.") {
			t.Errorf("%q: %v: %s", command, err, out)
		}
	}
}

// TestCommandsThatDoNotWantToEnd checks that commands that resist termination are ended.
//
// Proves SH-04, SHTO-02, TASK-04.
func TestCommandsThatDoNotWantToEnd(t *testing.T) {
	b := newBench(t, nil)
	tests := []struct{ name, command string }{
		{"closes its output and stays", `echo $$ > pid; exec >&- 2>&-; while :; do read -t 1000 < fifo; done`},
		{"is deaf", `trap "" TERM INT HUP; echo $$ > pid; while :; do read -t 1000 < fifo; done`},
		{"has deaf children", `(trap "" TERM; sh -c 'echo $$ > pid; read x < fifo') & wait`},
		{"becomes a daemon", `setsid sh -c 'setsid sh -c "echo \$\$ > pid; read x < fifo" &' & wait`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b.t = t
			b.bash("rm -f pid fifo; mkfifo fifo")
			id := b.call("Bash", map[string]any{"command": tt.command, "run_in_background": true}).Structured.BackgroundTaskID
			var pid int
			until(t, "it does not begin", func() bool {
				text, err := os.ReadFile(filepath.Join(b.cmd.Dir, "pid"))
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text))) // ok: it is being written
				return err == nil && pid > 0
			})
			if got := b.call("TaskStop", map[string]any{"task_id": id}); got.IsError && !strings.Contains(got.Text, "ended") {
				t.Errorf("%q", got.Text)
			}
			if tt.name != "becomes a daemon" { // a daemon ends with the session
				until(t, "it does not end", func() bool { return ended(pid) })
			} else {
				t.Cleanup(func() { until(t, "the daemon does not end", func() bool { return ended(pid) }) })
				b.end()
			}
		})
	}
}

// ended reports whether a process is gone or a zombie.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// TestCommandThatRemovesItsDirectory checks that the session continues after a command removes
// its working directory.
//
// Proves SH-03.
func TestCommandThatRemovesItsDirectory(t *testing.T) {
	b := newBench(t, nil)
	b.bash("mkdir -p d/e; echo 'rmdir ../e' > clean.sh; cd d/e")
	if got := b.bash("sh ../../clean.sh; cd /nosuch; echo still here"); !strings.Contains(got.Text, "still here") {
		t.Errorf("in the removed directory: %q", got.Text)
	}
	if got := b.bash("echo x > y"); !got.IsError || !strings.Contains(got.Text, "does not exist any more") {
		t.Errorf("after that: %q", got.Text)
	}
	if got := b.bash("ls; x=1"); got.IsError || got.Text != "clean.sh\nd" {
		t.Errorf("then: %q", got.Text)
	}
	b.end()
}

// TestDiskIsFull checks that a command that fills the disk is ended, and that the saved output
// is reported.
//
// Proves SHOUT-01.
func TestDiskIsFull(t *testing.T) {
	bwrap := needs(t, "bwrap")
	b := newBench(t, func(cmd *exec.Cmd) {
		small := t.TempDir()
		cmd.Args = append([]string{bwrap, "--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", small, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = bwrap
		cmd.Env = append(cmd.Env, "ADZE_HOME="+small)
	})
	got := b.bash("echo begun; yes")
	if !got.IsError || !strings.Contains(got.Text, "begun") || !strings.Contains(got.Text, "no space left on device") {
		t.Errorf("%.300q", got.Text)
	}
	if got := b.bash("echo on; x=1"); got.Text != "on" {
		t.Errorf("after that: %+v", got)
	}
	b.end()
}

// TestForksWithoutEnd checks that a fork bomb can't exceed the process limit, and that all its
// processes end with the command.
//
// Proves SH-04.
func TestForksWithoutEnd(t *testing.T) {
	bin, err := exec.LookPath("adze")
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 64_321 // otherwise unused, so that only our processes count
	b := newBench(t, func(cmd *exec.Cmd) {
		limit := 150 + len(processesOf(os.Getuid()))
		if os.Getuid() == 0 {
			limit = 150
			bin = runAs(t, cmd, nobody)
		}
		cmd.Path = "/bin/bash"
		cmd.Args = []string{"bash", "-c", fmt.Sprintf("ulimit -u %d; exec %s tool --stdin", limit, bin)}
	})
	id := b.call("Bash", map[string]any{"command": "bomb() { bomb & bomb & wait; }; bomb 2>/dev/null", "run_in_background": true}).Structured.BackgroundTaskID
	uid := os.Getuid()
	if uid == 0 {
		uid = nobody
	}
	before := len(processesOf(uid))
	until(t, "nothing forks", func() bool { return len(processesOf(uid)) > min(before+20, 100) })
	if got := b.call("TaskStop", map[string]any{"task_id": id}); got.IsError && !strings.Contains(got.Text, "ended") {
		t.Errorf("%q", got.Text)
	}
	if got := b.bash("echo on; x=1"); got.Text != "on" {
		t.Errorf("after that: %+v", got)
	}
	b.end()
	if uid == nobody {
		until(t, "processes are left", func() bool { return len(processesOf(nobody)) == 0 })
	}
}

// runAs makes a program run as another user with its own home, and returns the copy of the
// program that this user may run. The caller is root.
func runAs(t *testing.T, cmd *exec.Cmd, uid int) (program string) {
	t.Helper()
	home := t.TempDir()
	for dir := home; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&1 == 0 {
			if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
				t.Fatal(err)
			}
		}
	}
	program = filepath.Join(home, "adze")
	if out, err := exec.Command("cp", cmd.Path, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, path := range []string{home, program} {
		if err := os.Chown(path, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Path, cmd.Dir, cmd.Env = program, home, append(cmd.Env, "HOME="+home, "ADZE_HOME="+filepath.Join(home, "state"), "TMPDIR="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return program
}

// processesOf returns the live processes of a user.
func processesOf(uid int) []int {
	var found []int
	dirs, _ := filepath.Glob("/proc/[0-9]*") // ok: the pattern is valid
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		pid, _ := strconv.Atoi(filepath.Base(dir)) // ok: it is a number
		if err == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(uid) && !ended(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// TestProgramsForATerminal checks that terminal programs do not hang: they are not started, or
// end, and the model gets a hint about alternatives.
//
// Proves SH-04, SHBG-03.
func TestProgramsForATerminal(t *testing.T) {
	b := newBench(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "EDITOR=vim", "VISUAL=", "GIT_EDITOR=nano") })
	tests := []struct{ command, want string }{
		{"vim notes.txt", "use Read to look at a file, and Edit or Write to change it"},
		{"cd . && /usr/bin/vi", "vi needs a terminal"},
		{"watch ls", "run the command that is to be watched"},
		{"top", "use top -b -n 1"},
		{"tmux", "needs a terminal"},
		{"python3", "its input is empty"},
		{"bash", "its input is empty"},
		{"git init -q . && git -c user.name=n -c user.email=e commit --allow-empty", "use -m, or --no-edit"},
		{"git -c user.name=n -c user.email=e commit -q --allow-empty -m one; git rebase -i --root", "GIT_SEQUENCE_EDITOR"},
		{`sh -c 'exec $EDITOR file'`, "there-is-no-terminal-for-an-editor: not found"},
		{"less /etc/passwd", "root:"},
		{"read line; echo \"got $line\"", "got"},
		{"vim -es -c 'put =1+1' -c print -c 'qa!'", "2"},
	}
	for _, tt := range tests {
		got := b.bash(tt.command)
		if !strings.Contains(got.Text, tt.want) || got.Structured.TimedOut {
			t.Errorf("%s: %q, want %q", tt.command, got.Text, tt.want)
		}
	}
	b.end()
}
