package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// begin starts a bash command line in the sandbox and returns when it has printed a line.
func (p *prison) begin(t *testing.T, line string) (*Confined, *exec.Cmd) {
	t.Helper()
	confined, err := p.Wrap(t.Context(), Command{Path: "/bin/bash", Args: []string{"-c", line}, Dir: p.root, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(confined.Path, confined.Args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = confined.Dir, confined.Env, confined.Files
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); confined.End("") })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return confined, cmd
}

// within waits until a condition holds.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestNothingIsPutThere checks that the sandbox puts nothing into a working directory, even
// while a command runs, so that nothing is left behind if adze and the sandbox are killed.
//
// Proves PERM-61.
func TestNothingIsPutThere(t *testing.T) {
	for _, change := range []func(*Config){nil, networked} {
		p := newPrison(t, Bubblewrap, change)
		if err := os.RemoveAll(filepath.Join(p.root, ".git")); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("git", "init", "-q", p.root).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		before := snapshot(t, p.root)
		_, cmd := p.begin(t, "git status --porcelain; ls -A; sleep 60")
		if during := snapshot(t, p.root); during != before {
			t.Errorf("while it runs:\n%s\nbefore:\n%s", during, before)
		}
		if out, err := exec.Command("git", "-C", p.root, "status", "--porcelain").CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("git outside: %v, %s", err, out)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if after := snapshot(t, p.root); after != before {
			t.Errorf("killed:\n%s\nbefore:\n%s", after, before)
		}
		if out, _ := p.run(t, "git status --porcelain; ls -A"); out != ".git\n" {
			t.Errorf("inside there is %q", out)
		}
	}
	unprivileged(t)
}

// TestStrays checks that a file that appears under a protected name is moved to quarantine
// intact while the command still runs, and that the user and the model are notified.
//
// Proves PERM-61, PERM-64.
func TestStrays(t *testing.T) {
	var mu sync.Mutex
	var told []Stray
	p := newPrison(t, Bubblewrap, func(c *Config) {
		c.Quarantine = filepath.Join(filepath.Dir(c.Home), "quarantine")
		c.Appeared = func(s Stray) { mu.Lock(); told = append(told, s); mu.Unlock() }
	})
	if err := os.RemoveAll(filepath.Join(p.root, ".git")); err != nil {
		t.Fatal(err)
	}
	confined, cmd := p.begin(t, "mkdir d; echo content > d/config; mv d .git; echo servers > .mcp.json; mkdir -p .vscode/x; ln -s /etc/passwd .envrc; echo y > ordinary; echo; sleep 60")
	for _, name := range []string{".git", ".mcp.json", ".vscode", ".envrc"} {
		within(t, name+" stays", func() bool { return !exists(filepath.Join(p.root, name)) })
	}
	cmd.Process.Kill()
	cmd.Wait()
	limits, undone := confined.End("")
	said := limits + undone
	if len(told) != 4 || told[0].Path != filepath.Join(p.root, ".git") {
		t.Fatalf("told %v", told)
	}
	text, err := os.ReadFile(filepath.Join(told[0].Moved, "config"))
	if err != nil || string(text) != "content\n" || !strings.HasPrefix(told[0].Moved, filepath.Join(filepath.Dir(p.home), "quarantine")) {
		t.Errorf("%s holds %q, %v", told[0].Moved, text, err)
	}
	if !strings.Contains(said, told[0].String()) || strings.Contains(said, "ordinary") || !exists(filepath.Join(p.root, "ordinary")) {
		t.Errorf("it is said: %s", said)
	}
	unprivileged(t)
}

// TestStraysWithoutNotices checks that directories are polled if the same user's programs have
// exhausted inotify.
func TestStraysWithoutNotices(t *testing.T) {
	p := newPrison(t, Bubblewrap, nil)
	p.sentry.notices.file, p.sentry.notices.fd = os.Stdin, -1
	defer func() { p.sentry.notices.file = nil }()
	confined, _ := p.begin(t, "mkdir .vscode; echo; sleep 60")
	within(t, ".vscode stays", func() bool { return !exists(filepath.Join(p.root, ".vscode")) })
	if _, said := confined.End(""); !strings.Contains(said, ".vscode appeared") {
		t.Errorf("it is said: %s", said)
	}
}

// TestInsistentStrays checks that a program that keeps creating a protected name is killed.
func TestInsistentStrays(t *testing.T) {
	p := newPrison(t, Bubblewrap, nil)
	confined, cmd := p.begin(t, "echo; while :; do mkdir -p .vscode; done 2>/dev/null")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it runs on")
	}
	if _, said := confined.End(""); !strings.Contains(said, ".vscode appeared") || exists(filepath.Join(p.root, ".vscode")) {
		t.Errorf("it is said: %s", said)
	}
	unprivileged(t)
}

// TestWhatIsNoStray checks that files the user consented to are kept, that a running command
// that could change them is killed, and that the next command cannot change them.
func TestWhatIsNoStray(t *testing.T) {
	for _, name := range []string{".vscode", ".claude"} {
		p := newPrison(t, Bubblewrap, nil)
		confined, cmd := p.begin(t, "echo; while :; do echo x > .vscode/tasks.json; echo x > .claude/settings.json; done 2>/dev/null")
		if name == ".vscode" {
			resume := p.Aside()
			if err := os.Mkdir(filepath.Join(p.root, name), 0o755); err != nil {
				t.Fatal(err)
			}
			defer resume()
		} else {
			p.Expect(filepath.Join(p.root, name, "settings.json"))
			if err := os.Mkdir(filepath.Join(p.root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Wait() // ok: killed
		if _, said := confined.End(""); !exists(filepath.Join(p.root, name)) || !strings.Contains(said, name+" was made outside the sandbox") {
			t.Errorf("%s is gone, or nothing is said: %s", name, said)
		}
		os.RemoveAll(filepath.Join(p.root, name)) // ok: remains of the killed command
		if err := os.Mkdir(filepath.Join(p.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, _ := p.run(t, "echo x > "+name+"/tasks.json || rmdir "+name); !strings.Contains(out, "Read-only file system") {
			t.Errorf("%s", out)
		}
	}
	unprivileged(t)
}

// TestStraysBesideACommandOutside checks that a long-running command outside the sandbox is not
// consent to files that commands inside create later.
func TestStraysBesideACommandOutside(t *testing.T) {
	p := newPrison(t, Bubblewrap, nil)
	defer p.Aside()()
	if _, said := p.run(t, "mkdir .vscode"); exists(filepath.Join(p.root, ".vscode")) || !strings.Contains(said, "it was moved to") {
		t.Errorf("it stays: %s", said)
	}
}

// TestReplacedOutside checks that an existing name may be replaced outside, as editors do.
func TestReplacedOutside(t *testing.T) {
	p := newPrison(t, Bubblewrap, nil)
	write(t, filepath.Join(p.root, ".env"), "old")
	confined, _ := p.begin(t, "echo; sleep 60")
	write(t, filepath.Join(p.root, "new"), "new")
	if err := os.Rename(filepath.Join(p.root, "new"), filepath.Join(p.root, ".env")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.root, ".npmrc"), "x")
	within(t, ".npmrc stays", func() bool { return !exists(filepath.Join(p.root, ".npmrc")) })
	if _, said := confined.End(""); !exists(filepath.Join(p.root, ".env")) || strings.Contains(said, ".env") {
		t.Errorf("it is said: %s", said)
	}
}

// TestQuarantineElsewhere checks that a stray is renamed immediately if the quarantine is on
// another file system.
func TestQuarantineElsewhere(t *testing.T) {
	elsewhere, err := os.MkdirTemp("/dev/shm", "adze-quarantine-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(elsewhere)
	p := newPrison(t, Bubblewrap, func(c *Config) { c.Quarantine = elsewhere })
	_, said := p.run(t, "mkdir .vscode; echo x > .vscode/file")
	moved, err := filepath.Glob(filepath.Join(p.root, ".vscode.quarantine-*"))
	if err != nil || len(moved) != 1 || exists(filepath.Join(p.root, ".vscode")) || !strings.Contains(said, moved[0]) {
		t.Errorf("%v, %v: %s", moved, err, said)
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	p = newPrison(t, Bubblewrap, func(c *Config) { c.Quarantine = "/proc/nowhere" })
	_, said = p.run(t, "echo x > .npmrc")
	moved, err = filepath.Glob(filepath.Join(p.root, ".npmrc.quarantine-*"))
	if err != nil || len(moved) != 1 || exists(filepath.Join(p.root, ".npmrc")) || !strings.Contains(said, moved[0]) {
		t.Errorf("%v, %v: %s", moved, err, said)
	}
}

// TestLeftBehind checks that the temporary directory of a killed process is removed by the next
// sandbox.
func TestLeftBehind(t *testing.T) {
	base := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]int{"adze-1": os.Getpid(), "adze-2": dead.Process.Pid} {
		own := filepath.Join(base, name, ownName)
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(own, pidFile), strconv.Itoa(pid))
	}
	sweep(base)
	if !exists(filepath.Join(base, "adze-1")) || exists(filepath.Join(base, "adze-2")) {
		t.Error("the wrong one is left")
	}
}
