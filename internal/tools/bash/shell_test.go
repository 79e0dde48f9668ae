//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/sandbox/jail"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// A bench is a tool with the full configuration of a session.
type bench struct {
	tool.Tool
	root, dir string // the session's root and current directory
	tasks     *task.Table
	notices   chan task.Notice
	shells    atomic.Int32 // number of commands run by a shell
}

// A box counts the commands put into it, and confines nothing.
type box struct {
	*bench
	scratch string
	fails   error // error of Wrap
	off     bool
	leaves  func() bool // nil means no
	aside   int
	outside func(*shell.Script) bool // nil means none
}

func (b *box) On() bool                 { return !b.off }
func (b *box) Scratch() (string, error) { return b.scratch, nil }
func (b *box) Leaves() bool             { return b.leaves != nil && b.leaves() }
func (b *box) Aside() func()            { b.aside++; return func() { b.aside-- } }

func (b *box) Wrap(c osproc.Cmd) (osproc.Cmd, func(string) (string, string), error) {
	if b.fails != nil {
		return osproc.Cmd{}, nil, b.fails
	}
	b.shells.Add(1)
	return c, nil, nil
}

func (b *box) Read(c osproc.Cmd, p *jail.Policy) (osproc.Cmd, func(), error) {
	c.Start = p.Start
	return c, func() {}, b.fails
}

func (b *box) Outside() func(*shell.Script) bool {
	if b.outside == nil {
		return func(*shell.Script) bool { return false }
	}
	return b.outside
}

func yes() bool { return true }

func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{root: root, dir: root, notices: make(chan task.Notice, 300)}
	b.tasks = task.New(filepath.Join(t.TempDir(), "tasks"), func(n task.Notice) { b.notices <- n })
	r := &osproc.Runner{Grace: 200 * time.Millisecond}
	t.Cleanup(r.Close)
	t.Cleanup(b.tasks.Close)
	c := Config{Sandbox: &box{bench: b, scratch: t.TempDir()}, Config: command.Config{
		Dir: func() string { return b.dir }, Runner: r, Limits: command.Limits{Tasks: b.tasks}, TempDir: t.TempDir(),
		SetDir: func(dir string) string {
			if b.dir = dir; !strings.HasPrefix(dir+"/", root+"/") {
				b.dir = root
			}
			return b.dir
		},
	}}
	if change != nil {
		change(&c)
	}
	b.Tool = New(c)
	return b
}

func (b *bench) run(t *testing.T, command string) string {
	t.Helper()
	return msg.PlainText(run(t, b, input(command)).Parts)
}

// Proves SH-02.
func TestReadingCommandsAreBashs(t *testing.T) {
	b := newBench(t, nil)
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "b.txt": "three\n", ".hidden": "", "-n": "x\n", "sub/c": "c\n"} {
		path := filepath.Join(b.root, name)
		os.MkdirAll(filepath.Dir(path), 0o755) // ok: writing fails otherwise
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ command, want string }{
		{"ls | head -1", "-n"},
		{"ls *.txt", "a.txt\nb.txt"},
		{"cat a.txt b.txt | wc -l", "3"},
		{"cat < a.txt", "one\ntwo"},
		{"cat <<'E'\n$x `y`\nE", "$x `y`"},
		{"cat <<< hello", "hello"},
		{"echo a; echo b && echo c || echo d", "a\nb\nc"},
		{"false || echo no", "no"},
		{"! true || echo negated", "negated"},
		{"grep -q one a.txt && echo found", "found"},
		{"(cd sub && ls); ls b.txt", "c\nb.txt"},
		{"{ echo a; echo b; } | nl -ba", "     1\ta\n     2\tb"},
		{"ls nosuch 2>/dev/null; echo after", "after"},
		{"echo x > /dev/null; echo y", "y"},
		{"ls nosuch 2>&1 | wc -l", "1"},
		{"printf '%s-' a 'b c'", "a-b c-"},
		{"[ -f a.txt ] && echo file", "file"},
		{"seq 100000 | head -2", "1\n2"},
		{"LC_ALL=C sort a.txt", "one\ntwo"},
		{"pwd", b.root},
		{": && true", "The command succeeded and printed nothing."},
		{"sort 'a.txt'", "one\ntwo"},
		{"ls nosuch*", "ls: cannot access 'nosuch*': No such file or directory\nExit code 2"},
		{"cat < nosuch", "bash: line 1: nosuch: No such file or directory\nExit code 1"},
		{"command -v nosuchprogram", "Exit code 1"},
		{"head *", "head: invalid number of lines: ‘a.txt’\nExit code 1"},
	}
	for _, tt := range tests {
		if got := b.run(t, tt.command); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.command, got, tt.want)
		}
	}
	if n := b.shells.Load(); n != 0 {
		t.Errorf("%d commands ran in the sandbox for writing commands", n)
	}
}

// Proves SH-02.
func TestSnapshot(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	rc := "alias greet='echo hello'\nshout() { echo \"$1!\"; }\nalias ls='echo alias'\n"
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte(rc), 0o644); err != nil {
		t.Fatal(err)
	}
	r := new(osproc.Runner)
	t.Cleanup(r.Close)
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var warnings []string
	take := TakeSnapshot(r, dir, env, func(s string) { warnings = append(warnings, s) })
	t.Cleanup(take.Close)
	b := newBench(t, func(c *Config) { c.Snapshot = take.File })
	if got := b.run(t, "greet; shout hey; exit 0"); got != "hello\nhey!" || len(warnings) != 0 {
		t.Errorf("%q, warnings %q", got, warnings)
	}
	if got := b.run(t, "ls"); got != "The command succeeded and printed nothing." {
		t.Errorf("a read-only command consults aliases: %q", got)
	}

	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("exit 7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	take = TakeSnapshot(r, broken, env, func(s string) { warnings = append(warnings, s) })
	t.Cleanup(take.Close)
	b = newBench(t, func(c *Config) { c.Snapshot = take.File })
	if got := b.run(t, "touch x; echo plain"); got != "plain" {
		t.Errorf("%q", got)
	}
	b.run(t, "touch x")
	if len(warnings) != 1 || !strings.Contains(warnings[0], "exit code 7") {
		t.Errorf("warnings %q", warnings)
	}
}

// Proves SH-03, X-003.
func TestWorkingDirectory(t *testing.T) {
	b := newBench(t, nil)
	sub := filepath.Join(b.root, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	reset := "The working directory was reset to " + b.root + ": / is outside of where you work."
	steps := []struct{ command, want, dir string }{
		{"cd sub", "The working directory is now " + sub + ".", sub},
		{"pwd", sub, sub},
		{"A=1; pwd; cd ..; exit 3", sub + "\nExit code 3\nThe working directory is now " + b.root + ".", b.root}, // run by a shell
		{"A=1; cd sub; false", "Exit code 1\nThe working directory is now " + sub + ".", sub},
		{"cd /", reset, b.root},
		{"pwd", b.root, b.root},
		{"A=1; cd /", reset, b.root},
		{"(cd sub)", "The command succeeded and printed nothing.", b.root},
		{"echo ${A:-unset}", "unset", b.root}, // nothing else persists
	}
	for _, s := range steps {
		if got := b.run(t, s.command); got != s.want || b.dir != s.dir {
			t.Errorf("%q: %q in %s", s.command, got, b.dir)
		}
	}
	b.run(t, "cd sub")
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	call, err := b.Bind(json.RawMessage(input("rm -rf *")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = call.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "it is "+b.root+" now") || b.dir != b.root {
		t.Errorf("vanished: %v, in %s", err, b.dir)
	}
}

// Proves SH-04.
func TestReadOnlyEnvironment(t *testing.T) {
	bin := t.TempDir()
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(env) // a script by the user would not be proven read-only
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "tree"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config) {
		dir := c.Dir()
		c.Env = func() []string {
			return []string{"PATH=.:" + filepath.Join(dir, "bin") + ":" + bin + ":" + os.Getenv("PATH"), "HOME=/h", "LC_ALL=C", "GOFLAGS=x", "SECRET=s", "GIT_DIR=x", "KEPT=k", "THEIRS=evil", "LC_ALL=evil", "GCONV_PATH=evil"}
		}
		c.Keep, c.Project = []string{"KEPT"}, []string{"THEIRS=evil", "LC_ALL=evil", "GCONV_PATH=evil"}
	})
	if err := os.MkdirAll(filepath.Join(b.root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree", "bin/tree"} { // a project's program is not used
		if err := os.WriteFile(filepath.Join(b.root, name), []byte("#!/bin/sh\necho evil\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got := b.run(t, "TZ=UTC tree")
	for _, want := range []string{"HOME=/h", "LC_ALL=C", "KEPT=k", "TERM=dumb", "TZ=UTC", "GOTOOLCHAIN=local"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	for _, bad := range []string{"SECRET", "GOFLAGS", "GIT_DIR", "evil", "PATH=.", b.root + "/bin"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s in %q", bad, got)
		}
	}
}

// Proves SH-04.
func TestGrandchildrenEndWithACancelledCommand(t *testing.T) {
	b := newBench(t, nil)
	call, err := b.Bind(json.RawMessage(input("sleep 100 & echo $! ; wait")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	res, err := call.Run(ctx, func(p tool.Progress) {
		if p.Display.(tool.Output).Text != "" {
			cancel()
		}
	})
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(msg.PlainText(res.Parts))[0])
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil && alive(pid); {
		if time.Now().After(deadline) {
			t.Fatal("it is still there")
		}
	}
}

// alive reports whether a process is running, not a zombie.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(data), ") Z ")
}

// Proves SH-05.
func TestCodesThatAreAnswers(t *testing.T) {
	b := newBench(t, nil)
	if err := os.WriteFile(filepath.Join(b.root, "f"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for command, failed := range map[string]bool{
		"grep nothing f": false, "cat f | grep nothing": false, "diff f /dev/null": false, "test -f nosuch": false, "[ -d f ]": false, "A=1 grep nothing f": false,
		"false": true, "grep nothing nosuch": true, "grep nothing f; false": true, "nosuchprogram": true, "./f": true, "echo $(false); exit 1": true,
	} {
		if res := run(t, b, input(command)); res.IsError != failed {
			t.Errorf("%q: error %v: %s", command, res.IsError, msg.PlainText(res.Parts))
		}
	}
	if got := b.run(t, "nosuchprogram x"); !strings.Contains(got, "nosuchprogram: command not found") || !strings.HasSuffix(got, "Exit code 127") {
		t.Errorf("%q", got)
	}
	if got := b.run(t, "./f"); !strings.Contains(got, "Permission denied") || !strings.HasSuffix(got, "Exit code 126") {
		t.Errorf("%q", got)
	}
}

// Proves SHC-01.
func TestOnlyProvenCommandsRunBesideOthers(t *testing.T) {
	b := newBench(t, nil)
	for command, want := range map[string]tool.Facts{
		"ls":       {ReadOnly: true, Concurrent: true},
		"touch x":  {OpenWorld: true},
		"rm -rf x": {OpenWorld: true, Destructive: true},
	} {
		call, err := b.Bind(json.RawMessage(input(command)))
		if err != nil {
			t.Fatal(err)
		}
		if got := tool.FactsOf(call); got != want {
			t.Errorf("%q: %+v", command, got)
		}
	}
	call, _ := b.Bind(json.RawMessage(input("find . -delete"))) // ok: always binds
	if tool.FoldOf(call) != tool.FoldSearch {
		t.Error("it is not folded as a search")
	}
}

func TestSandboxThatCannotBeBuilt(t *testing.T) {
	b := newBench(t, func(c *Config) {
		c.Sandbox.(*box).fails = os.ErrPermission
	})
	call, err := b.Bind(json.RawMessage(input("touch ran; exit 0")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context(), func(tool.Progress) {}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(b.root, "ran")); err == nil {
		t.Error("the command ran without it")
	}
}

// TestProvenCommandsEnd checks that a read-only command can be canceled like any other.
func TestProvenCommandsEnd(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Tasks = nil })
	fifo(t, b.root)
	res := run(t, b, `{"command":"echo begun; cat fifo | wc -l","timeout":100}`)
	if text := msg.PlainText(res.Parts); !strings.HasPrefix(text, "begun\nThe command exceeded its time limit of 100 ms") || !res.Structured.(command.Output).TimedOut {
		t.Errorf("%q", text)
	}
	call, err := b.Bind(json.RawMessage(input("echo begun; cat fifo")))
	if err != nil {
		t.Fatal(err)
	}
	judge(call)
	ctx, cancel := context.WithCancel(t.Context())
	res, err = call.Run(ctx, func(tool.Progress) { cancel() })
	cancel()
	if err != nil || !res.Structured.(command.Output).Interrupted {
		t.Errorf("%v, %+v", err, res.Structured)
	}
	if n := b.shells.Load(); n != 0 {
		t.Errorf("%d shells were started", n)
	}
}

// Proves SHAST-02.
func TestHookConditionsMeetWhatIsNotUnderstood(t *testing.T) {
	for command, want := range map[string]bool{
		"ls": false, "npm test": true, "ls && npm test": true, "sudo npm test": true, "for f in a; do ls; done": true, "ls $(pwd)": true, "ls 'x": true, "ls\r": true,
	} {
		if got, err := bound(command).Match("npm:*"); got != want || err != nil {
			t.Errorf("%q: %v, %v", command, got, err)
		}
	}
	if got, err := bound("ls").Match(":*"); !got || err == nil {
		t.Errorf("a broken condition: %v, %v", got, err)
	}
}

// TestShellShowsTheCommandOnly checks that the wrapper is not visible in the output: S1 to S4
// of the second review.
func TestShellShowsTheCommandOnly(t *testing.T) {
	for _, name := range []string{"bash", "sh"} {
		t.Run(name, func(t *testing.T) {
			if name == "sh" {
				path := t.TempDir()
				for link, program := range map[string]string{"sh": "dash", "env": "env", "grep": "grep", "sleep": "sleep"} {
					file, err := exec.LookPath(program)
					if err == nil {
						err = os.Symlink(file, filepath.Join(path, link))
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				t.Setenv("PATH", path)
			}
			b := newBench(t, nil)
			for line, want := range map[string]string{
				": > made; echo $LINENO":                                    "1",
				": > made\n\necho $LINENO":                                  "3",
				": > made; set -x; echo traced":                             "+ echo traced\ntraced",
				"set -C; : > made2; cd .":                                   "",
				": > made; set -v; echo v":                                  "v",
				": > made; set -v; exit 3":                                  "Exit code 3",
				"set -euxvC; true; : > made3":                               "+ true\n+ :",
				": > made; echo ${BASH_ENV-none}; env | grep ^BASH_ENV":     "none\nExit code 1",
				": > made; trap 'echo mine' EXIT":                           "mine",
				"-nosuch 2>/dev/null; echo $?; : > made":                    "127",
				": > made; exec 2>&1; echo a; kill -TERM $$; sleep 1; echo": "a\nThe command was ended by a signal (terminated).",
			} {
				if name == "sh" && strings.Contains(line, "LINENO") {
					continue // empty in dash
				}
				if got := b.run(t, line); got != want && !(want == "" && got == "The command succeeded and printed nothing.") {
					t.Errorf("%q: %q, want %q", line, got, want)
				}
			}
			if got := b.run(t, ": > made; nosuchprogram"); !strings.HasPrefix(got, name+": line 1: nosuchprogram: command not found") && !strings.HasPrefix(got, name+": 1: nosuchprogram: not found") {
				t.Errorf("a missing program: %q", got)
			}
			if got := b.run(t, ": > made; echo 'unclosed"); !strings.Contains(got, "Exit code 2") || strings.Contains(got, "adze-dir") {
				t.Errorf("an unclosed quote: %q", got)
			}
		})
	}
}

func TestHider(t *testing.T) {
	const text = "one\nsecret line\ntwo secret\nsecret line\nsecre"
	for n := 1; n < len(text); n++ {
		var b strings.Builder
		h := &hider{w: &b, line: []byte("secret line\n")}
		for rest := text; rest != ""; rest = rest[min(n, len(rest)):] {
			if _, err := h.Write([]byte(rest[:min(n, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Close(); err != nil || b.String() != "one\ntwo secret\nsecre" {
			t.Errorf("in pieces of %d: %q, %v", n, b.String(), err)
		}
	}
}

// TestOddTempDir checks temporary directories with unusual names.
func TestOddTempDir(t *testing.T) {
	for _, name := range []string{"$(touch made)", "`touch made`", `a\b"c`, "it's", "$HOME", "sp ace"} {
		b := newBench(t, func(c *Config) {
			c.TempDir = filepath.Join(t.TempDir(), name)
			c.Sandbox = nil
		})
		if err := os.Mkdir(filepath.Join(b.root, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := b.run(t, ": > x; cd sub; ls ..; alias ll=ls"); !strings.HasPrefix(got, "sub\nx\nThe working directory is now ") || b.dir != filepath.Join(b.root, "sub") {
			t.Errorf("%s: %q in %s", name, got, b.dir)
		}
	}
}
