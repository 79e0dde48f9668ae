package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A prison is a sandbox around a directory, with targets outside it.
type prison struct {
	*Sandbox
	root, outside, home string
}

func newPrison(t *testing.T, tier Tier, change func(*Config)) *prison {
	t.Helper()
	base := visibleDir(t)
	p := &prison{root: filepath.Join(base, "root"), outside: filepath.Join(base, "outside"), home: filepath.Join(base, "home")}
	for _, dir := range []string{p.root, p.outside, p.home, filepath.Join(p.home, ".ssh"), filepath.Join(p.root, ".git", "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(p.home, ".ssh", "id"), "private key")
	write(t, filepath.Join(p.root, ".git", "config"), "original")
	write(t, filepath.Join(p.outside, "file"), "original")
	c := Config{Roots: func() []string { return []string{p.root} }, Home: p.home, Only: tier}
	if change != nil {
		change(&c)
	}
	p.Sandbox = New(c)
	t.Cleanup(p.Close)
	if _, err := p.Tier(); err != nil {
		t.Fatal(err)
	}
	return p
}

// visibleDir returns a directory that is visible inside, where the usual temporary directories
// are replaced: below the home directory, or in /var for root, who also runs this test as
// another user.
func visibleDir(t *testing.T) string {
	t.Helper()
	parent := os.Getenv("ADZE_TEST_BASE")
	if parent == "" && os.Geteuid() == 0 {
		parent = "/var"
	}
	if parent == "" {
		var err error
		if parent, err = os.UserHomeDir(); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp(parent, "adze-escape-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a bash command line in the sandbox and returns its output and the messages about it.
func (p *prison) run(t *testing.T, line string) (out, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	confined, err := p.Wrap(ctx, Command{Path: "/bin/bash", Args: []string{"-c", line}, Dir: p.root, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + p.home}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, confined.Path, confined.Args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = confined.Dir, confined.Env, confined.Files
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
	}
	limits, undone := confined.End(b.String())
	return b.String(), limits + undone
}

// unprivileged reruns the calling test as another user if it runs as root. The escape suite
// must pass for both.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Fatal(err)
	}
	exe := sharedExecutable(t)
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", exe, "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	base := visibleDir(t)
	if err := os.Chown(base, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "TMPDIR=/tmp", "ADZE_TEST_BASE=" + base}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS: "+t.Name())) {
		t.Errorf("as an unprivileged user: %v\n%s", err, out)
	}
}

// nobody is a user ID that owns nothing.
const nobody = 65534

// sharedExecutable returns a copy of the test binary that any user can run.
func sharedExecutable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "adze-escape-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	name := filepath.Join(dir, "test")
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// snapshot returns the names and contents of the files below dir.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		fmt.Fprintf(&b, "%s %v %q\n", strings.TrimPrefix(path, dir), info.Mode(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Proves PERM-60, PERM-61, SHSB-02.
func TestEscapes(t *testing.T) {
	escape(t, newPrison(t, Bubblewrap, nil))
	escape(t, newPrison(t, Bubblewrap, networked)) // starts differently
	unprivileged(t)
}

// networked allows commands to reach a host.
func networked(c *Config) {
	c.Network.Allow = func() []Domain { return []Domain{{host: "allowed.example.org"}} }
}

func escape(t *testing.T, p *prison) {
	t.Helper()
	attempts := []string{
		"echo x > OUT/new", "echo x >> OUT/file", "rm -f OUT/file", "mv OUT/file OUT/moved", "chmod 777 OUT/file", "chown 1:1 OUT/file", "touch OUT/file",
		"ln -s OUT link; echo x > link/new; rm link", "ln OUT/file hard && echo x > hard", "cd ROOT/..; echo x > new", "mkdir OUT/dir", "truncate -s 0 OUT/file",
		"echo x > /proc/self/root/OUT/new", "cd /proc/self/root; echo x > ./OUT/new", "echo x > /etc/adze-escape", "echo x > HOME/.bashrc", "cp /bin/true OUT/true",
		"echo x > .git/config", "echo x > .git/hooks/pre-commit", "rm -rf .git", "mv .git gone", "mv .git gone; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
		"rmdir .git; ln -s /tmp .git", "chmod 777 .git", "mv ROOT OUT/root", "mv ../root ../other", "mkdir -p .adze; echo x > .adze/settings.json", "mkdir .claude; echo x > .claude/settings.json",
		"rmdir .adze; mkdir .adze; echo x > .adze/settings.json", "mv .adze other; mkdir .adze; touch .adze/x", "echo x > .mcp.json", "rm -f .mcp.json; echo x > .mcp.json", "echo x > y; mv y .mcp.json", "mkdir d; mv d .claude", "mkdir d; mv -T d .vscode; rmdir d", "ln file .npmrc || ln -s file .npmrc", "mkfifo .env",
		"echo x > .vscode/tasks.json", "ln -sf /etc/passwd .envrc", "mkdir -p refs objects; echo ref: refs/heads/main > HEAD; rm -r refs objects",
		"touch refs; mkdir -p x/refs x/objects; echo ref: refs/heads/main > HEAD; echo x > commondir; rm -r refs x commondir", "ln -s .git/HEAD HEAD",
		"mount -o remount,rw /; mount -o remount,rw,bind /; echo x > OUT/new", "mount -o remount,rw ROOT/.git; echo x > .git/config", "mount -t tmpfs none OUT", "umount ROOT/.git; echo x > .git/config", "umount -l HOME/.ssh; cat HOME/.ssh/id",
		"unshare -Ur true", "unshare -Urm bash -c 'mount -o remount,rw,bind /; echo x > OUT/new'", "unshare -n true", "nsenter -t 1 -m bash -c 'echo x > OUT/new'", "chroot / bash -c 'echo x > OUT/new'",
		"cat HOME/.ssh/id", "cat /proc/self/root/HOME/.ssh/id", "ln -s HOME/.ssh/id key; cat key; rm key", "cp -r HOME/.ssh copy; cat copy/id; rm -rf copy", "mv HOME/.ssh OUT/ssh; cat OUT/ssh/id",
		"grep -r 'private key' HOME", "mkdir HOME/x; mount --bind HOME/.ssh HOME/x",
		// names that did not exist, created in every possible way
		"mkdir -p a/.claude; mv a/.claude .; rmdir a", "mkdir a; touch a/x; cp -r a .vscode; rm -r a", "mkdir -p t/.vscode/x; tar -C t -c . | tar x; rm -r t", "install -D /etc/passwd .idea/x", "rsync -a /etc/hostname .npmrc 2>/dev/null || cp /etc/hostname .npmrc",
		"git init --bare -q .", "git clone -q --bare .git . ", "mkdir w; cd w; mkdir ../.husky", "cd /proc/self/cwd && mkdir .githooks", "exec 3< .; mkdir /proc/self/fd/3/.cargo", "mkdir .claude .vscode .idea .husky; touch .env .envrc .npmrc .yarnrc .gitmodules .gitattributes",
		"(sleep 0.05; mkdir .claude) & (sleep 0.05; mkdir .vscode) & wait", "for i in 1 2 3; do mkdir .adze; sleep 0.02; done", "mkdir x; mv --exchange x .git 2>/dev/null; mv -T x .adze; rmdir x", "ln -s OUT .vscode", "ln -s .git .claude", "mkfifo .mcp.json", "python3 -c 'import socket,os; os.mknod(\".env\")' || touch .env",
		// ways around the mounts
		"exec 3< /; echo x > /proc/self/fd/3/OUT/new", "cd /proc/self/cwd/..; echo x > new", "cd /proc/1/root; echo x > ./OUT/new", "cd /proc/1/cwd && echo x > new", "ls -l /proc/self/fd | grep -v pipe: | grep -c OUT", "for f in /proc/[0-9]*/fd/*; do echo x > $f/OUT/new; done 2>/dev/null",
		"git config --global alias.x '!true'", "git worktree add -q ../outside/tree", "GIT_DIR=.git git config core.fsmonitor x", "GIT_CONFIG=.git/config git config core.pager x", "git commit --allow-empty -qm x", "cat /proc/self/mountinfo | grep -o 'HOME/.ssh' | head -1; cat HOME/.ssh/../.ssh/id",
		"echo 1 > /proc/sys/vm/drop_caches", "echo h > /proc/sysrq-trigger", "echo $$ > /sys/fs/cgroup/cgroup.procs", "mkdir /sys/fs/cgroup/escape", "echo x > /proc/self/oom_score_adj", "echo x > /dev/kmsg", "dd if=/dev/zero of=/dev/sda bs=1 count=1", "cat /dev/mem | head -c 1",
	}
	replace := strings.NewReplacer("OUT", p.outside, "ROOT", p.root, "HOME", p.home)
	before, git, home := snapshot(t, p.outside), snapshot(t, filepath.Join(p.root, ".git")), snapshot(t, p.home)
	for _, attempt := range attempts {
		out, _ := p.run(t, replace.Replace(attempt))
		if strings.Contains(out, "private key") {
			t.Errorf("%s: read a secret: %s", attempt, out)
		}
		if after := snapshot(t, p.outside); after != before {
			t.Fatalf("%s: changed the outside:\n%s\n%s", attempt, after, out)
		}
		if after := snapshot(t, filepath.Join(p.root, ".git")); after != git {
			t.Fatalf("%s: changed the repository:\n%s\n%s", attempt, after, out)
		}
		if after := snapshot(t, p.home); after != home {
			t.Fatalf("%s: changed the home directory:\n%s\n%s", attempt, after, out)
		}
		for _, name := range append(append(protectedDirs[1:], protectedFiles[:]...), "HEAD", "gone", "hard") {
			if _, err := os.Lstat(filepath.Join(p.root, name)); err == nil {
				t.Fatalf("%s: %s is there afterwards\n%s", attempt, name, out)
			}
		}
	}
	if _, err := os.Lstat("/etc/adze-escape"); err == nil {
		t.Error("a file was written to /etc")
	}
}

// TestSandboxesShareAProbe checks that a sandbox that reuses another's test result confines on
// its own, even after the other is closed.
func TestSandboxesShareAProbe(t *testing.T) {
	var probe Probe
	share := func(c *Config) { c.Home, c.Probe = "", &probe }
	first, second := newPrison(t, Landlock, share), newPrison(t, Landlock, share)
	if len(probe.results) != 1 {
		t.Errorf("%d tests", len(probe.results))
	}
	first.Close()
	out, _ := second.run(t, "echo in > made && cat made; echo x > "+filepath.Join(first.root, "made"))
	if !strings.HasPrefix(out, "in\n") || !strings.Contains(out, "Permission denied") {
		t.Errorf("printed %q", out)
	}
}

// Proves PERM-61, SHSB-02.
func TestWhatIsAllowedWorks(t *testing.T) {
	p := newPrison(t, Bubblewrap, nil)
	temp, err := p.Temp()
	if err != nil {
		t.Fatal(err)
	}
	out, said := p.run(t, `echo a > new && mkdir -p sub/deep && mv new sub/deep/moved && cat sub/deep/moved && echo b > /tmp/one && echo c > "$TMPDIR/two" && cat .git/config && echo && (exec 3<>/dev/null; echo fine) && git init -q sub/repo && pwd`)
	if want := "a\noriginal\nfine\n" + p.root + "\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	if said != "" {
		t.Errorf("it is said: %s", said)
	}
	for _, name := range []string{"one", "two"} {
		if _, err := os.Stat(filepath.Join(temp, name)); err != nil {
			t.Error(err)
		}
	}
	if out, _ := p.run(t, "cat /tmp/one"); out != "b\n" {
		t.Errorf("the temporary directory does not last: %q", out)
	}
	if out, _ := p.run(t, `python3 - <<'E' 2>/dev/null || echo ok
import socket
a, b = socket.socketpair(); a.send(b"ok\n"); print(b.recv(9).decode(), end="")
E`); out != "ok\n" {
		t.Errorf("a pair of sockets: %q", out)
	}
	unprivileged(t)
}

// Proves PERM-61.
func TestNetworkIsOutOfReach(t *testing.T) {
	reachOut(t, newPrison(t, Bubblewrap, nil))
	reachOut(t, newPrison(t, Bubblewrap, networked))
	unprivileged(t)
}

func reachOut(t *testing.T, p *prison) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	reached := make(chan string, 10)
	accept := func(l net.Listener, name string) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
			reached <- name
		}
	}
	go accept(tcp, "TCP")
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	socket := filepath.Join(p.root, "socket")
	local, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	go accept(local, "unix")
	port := func(a net.Addr) string { _, s, _ := net.SplitHostPort(a.String()); return s }
	for _, line := range []string{
		"echo x > /dev/tcp/127.0.0.1/" + port(tcp.Addr()), "echo x > /dev/udp/127.0.0.1/" + port(udp.LocalAddr()), "echo x > /dev/udp/192.0.2.1/53", "echo x > /dev/tcp/localhost/" + port(tcp.Addr()),
		"getent hosts example.org && echo resolved", "python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"" + socket + "\")'",
		"perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0) or die \"no socket: $!\\n\"; connect(S,sockaddr_un(\"" + socket + "\")) or die; print \"connected\"'",
		"perl -MSocket -e 'socket(S,16,3,0) or die \"no socket: $!\\n\"; print \"connected\"'",
	} {
		if out, _ := p.run(t, line); out == "" || strings.Contains(out, "resolved") || strings.Contains(out, "connected") {
			// Sending a datagram does not fail; its arrival is checked below.
			if !strings.Contains(line, "/dev/udp/127.") && !strings.Contains(line, "getent") {
				t.Errorf("%s: %q", line, out)
			}
		}
	}
	udp.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, _, err := udp.ReadFrom(make([]byte, 9)); err == nil {
		t.Errorf("a datagram of %d bytes arrived", n)
	}
	select {
	case name := <-reached:
		t.Errorf("%s was reached", name)
	default:
	}
}

// Proves PERM-60, PERM-61.
func TestProcessesStayInside(t *testing.T) {
	stayInside(t, newPrison(t, Bubblewrap, nil))
	stayInside(t, newPrison(t, Bubblewrap, networked))
	unprivileged(t)
}

func stayInside(t *testing.T, p *prison) {
	t.Helper()
	victim := exec.Command("sleep", "60")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { victim.Process.Kill(); victim.Wait() }()
	pid := strconv.Itoa(victim.Process.Pid)
	for line, bad := range map[string]string{
		"kill -9 " + pid + " && echo killed":                       "killed",
		"cat /proc/" + pid + "/cmdline | tr '\\0' ' '":             "sleep 60",
		"ls /proc | grep -c '^[0-9]*$' | grep '..'":                "",
		"grep CapEff /proc/self/status | grep -v 0000000000000000": "CapEff",
		"grep NoNewPrivs /proc/self/status | grep -v 1":            "NoNewPrivs",
		"id -u; su nobody -s /bin/sh -c 'echo other'":              "other",
		"cat /proc/1/environ | tr '\\0' '\\n' | grep ADZE_TEST":    "ADZE_TEST",
	} {
		if out, _ := p.run(t, line); bad != "" && strings.Contains(out, bad) {
			t.Errorf("%s: %s", line, out)
		}
	}
	if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process outside: %v", err)
	}
}

// TestNothingSurvives checks that everything a command leaves behind ends with it, and with the
// process that started it.
//
// Proves PERM-61.
func TestNothingSurvives(t *testing.T) {
	p := newPrison(t, Bubblewrap, nil)
	mark := "adze-survivor-" + strconv.Itoa(os.Getpid())
	p.run(t, "(setsid nohup bash -c 'exec -a "+mark+" sleep 300' >/dev/null 2>&1 &) ; sleep 0.2")
	waitGone(t, mark)

	confined, err := p.Wrap(t.Context(), Command{Path: "/bin/bash", Args: []string{"-c", "setsid bash -c 'exec -a " + mark + " sleep 300' & echo up; wait"}, Dir: p.root, Env: []string{"PATH=/usr/bin:/bin"}})
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
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	confined.End("")
	waitGone(t, mark)
	unprivileged(t)
}

// TestSelfTestsEndWithTheSandbox checks that a self-test ends with its sandbox, for example
// when the program exits early. bubblewrap alone does not ensure that: killed between two of
// its steps, it left its inner process waiting forever.
func TestSelfTestsEndWithTheSandbox(t *testing.T) {
	var runs trials
	mark := "adze-trial-" + strconv.Itoa(os.Getpid())
	ended := make(chan error, 1)
	go func() {
		ended <- runs.run(exec.CommandContext(t.Context(), "bash", "-c", "bash -c 'exec -a "+mark+" sleep 300' & wait"))
	}()
	for began := time.Now(); !running(mark) && time.Since(began) < time.Minute; {
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
	runs.close()
	if err := <-ended; err == nil {
		t.Error("it was not ended")
	}
	waitGone(t, mark)
	if err := runs.run(exec.CommandContext(t.Context(), "true")); err == nil {
		t.Error("one starts after the end")
	}
}

// running reports whether a process has text in its command line.
func running(text string) bool {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(names, func(name string) bool {
		line, err := os.ReadFile(name)
		return err == nil && bytes.Contains(line, []byte(text))
	})
}

// waitGone waits until no process has mark in its command line.
func waitGone(t *testing.T, mark string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		alive := false
		dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range dirs {
			if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, []byte(mark)) {
				alive = true
			}
		}
		if !alive {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it survives")
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 10e6}, nil)
	}
}

// TestTerminatedGroupsEndInTheirOwnTime checks that a terminated command gets time to exit by
// itself.
func TestTerminatedGroupsEndInTheirOwnTime(t *testing.T) {
	for _, change := range []func(*Config){nil, networked} { // start sequences differ
		terminated(t, newPrison(t, Bubblewrap, change))
	}
	unprivileged(t)
}

func terminated(t *testing.T, p *prison) {
	t.Helper()
	confined, err := p.Wrap(t.Context(), Command{Path: "/bin/bash", Args: []string{"-c", "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done"}, Dir: p.root, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	defer confined.End("")
	cmd := exec.Command(confined.Path, confined.Args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = confined.Dir, confined.Env, confined.Files
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	if !confined.Terminate() {
		t.Fatal("it is not terminated")
	}
	last, _ := io.ReadAll(out)
	cmd.Wait()
	if string(last) != "bye\n" || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("printed %q, exit code %d", last, cmd.ProcessState.ExitCode())
	}
}

// TestLandlockAlone checks that the weaker promises made without namespaces hold.
//
// Proves PERM-60.
func TestLandlockAlone(t *testing.T) {
	p := newPrison(t, Landlock, nil)
	replace := strings.NewReplacer("OUT", p.outside, "ROOT", p.root, "HOME", p.home)
	before, home := snapshot(t, p.outside), snapshot(t, p.home)
	for _, attempt := range []string{
		"echo x > OUT/new", "echo x >> OUT/file", "rm -f OUT/file", "mv OUT/file moved", "truncate -s 0 OUT/file", "ln OUT/file hard && echo x > hard", "mkdir OUT/dir", "echo x > HOME/.bashrc",
		"cat HOME/.ssh/id", "cat /proc/self/root/HOME/.ssh/id", "mv HOME/.ssh ROOT/ssh; cat ssh/id", "ln HOME/.ssh/id ROOT/id; cat id", "unshare -Urm true", "echo x > /dev/tcp/127.0.0.1/1 && echo connected",
	} {
		out, _ := p.run(t, replace.Replace(attempt))
		if strings.Contains(out, "private key") || strings.Contains(out, "connected") || out == "" {
			t.Errorf("%s: %q", attempt, out)
		}
		if snapshot(t, p.outside) != before || snapshot(t, p.home) != home {
			t.Fatalf("%s: changed the outside\n%s", attempt, out)
		}
	}
	if out, _ := p.run(t, "echo a > new && cat new && cat /etc/hostname >/dev/null && echo b > $TMPDIR/x && echo fine"); out != "a\nfine\n" {
		t.Errorf("an allowed write: %q", out)
	}
	unprivileged(t)
}

// TestProxyIsTheOnlyWay checks that the only way out is the proxy, whose listener is handed
// over before the command starts.
//
// Proves PERM-61.
func TestProxyIsTheOnlyWay(t *testing.T) {
	server := webServer(t)
	var asked []string
	p := newPrison(t, Bubblewrap, func(c *Config) {
		c.Network = Network{
			Allow: func() []Domain { return mustDomains(t, "allowed.example.org") },
			Ask: func(_ context.Context, host string) bool {
				asked = append(asked, host)
				return host == "asked.example.org"
			},
			Resolve: resolveTo("93.184.216.34"),
			Dial:    dialAlways(server),
		}
	})
	get := func(host string) string {
		return "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://" + host + "/page HTTP/1.1\\r\\nHost: " + host + "\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3; "
	}
	out, said := p.run(t, get("allowed.example.org")+get("asked.example.org")+get("asked.example.org")+get("other.example.org"))
	if n := strings.Count(out, "hello from /page"); n != 3 || !strings.Contains(out, "403 Forbidden") {
		t.Errorf("%d answers: %s", n, out)
	}
	if want := []string{"asked.example.org", "other.example.org"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if want := "<sandbox-violations>\nrefused the network: the host other.example.org is not allowed\n"; !strings.HasPrefix(said, want) {
		t.Errorf("it is said: %q", said)
	}
	if out, _ := p.run(t, "env | grep -i ^https_proxy | sort"); out != "HTTPS_PROXY=http://127.0.0.1:3128\nhttps_proxy=http://127.0.0.1:3128\n" {
		t.Errorf("the environment: %q", out)
	}
}

// TestFilesOfHomes checks that files that programs obey in a home directory cannot be created
// or changed there, or where such files are kept. Elsewhere they are reported.
//
// Proves PERM-61.
func TestFilesOfHomes(t *testing.T) {
	for _, home := range []bool{false, true} {
		p := newPrison(t, Bubblewrap, nil)
		if _, said := p.run(t, "touch .zshrc; echo x > .bashrc"); !strings.Contains(said, filepath.Join(p.root, ".zshrc")+" was created") {
			t.Errorf("it is said: %q", said)
		}
		if home {
			p.home = p.root
			p.Sandbox.config.Home = p.root
			os.Remove(filepath.Join(p.root, ".zshrc")) // ok: created above
			os.Remove(filepath.Join(p.root, ".bashrc"))
		}
		names := slices.Concat(homeFiles[:], homeDirs[:])
		before := snapshot(t, p.root)
		for _, line := range []string{"echo x > $name", "mkdir $name", "touch other; mv other $name", "mkdir dir; mv -T dir $name", "ln -s other $name", "touch other; ln other $name; rm other"} {
			p.run(t, "for name in "+strings.Join(names, " ")+"; do { "+line+"; } 2>/dev/null; done; rm -rf other dir")
		}
		if after := snapshot(t, p.root); after != before {
			t.Errorf("home=%v: left is\n%s\nbefore:\n%s", home, after, before)
		}
	}
	unprivileged(t)
}

// Proves PERM-61.
func TestDeniedPaths(t *testing.T) {
	var p *prison
	list := func(names ...string) func() ([]string, error) {
		return func() ([]string, error) {
			var paths []string
			for _, name := range names {
				paths = append(paths, filepath.Join(p.root, name))
			}
			return paths, nil
		}
	}
	for _, tier := range []Tier{Bubblewrap, Landlock} {
		p = newPrison(t, tier, func(c *Config) {
			c.Hidden, c.ReadOnly = list("hidden", "hidden/deeper", "secret.txt", "absent"), list("fixed")
			c.Write = func() ([]string, error) { return []string{p.outside}, nil }
		})
		for _, name := range []string{"hidden/deeper", "fixed"} {
			if err := os.MkdirAll(filepath.Join(p.root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(p.root, "hidden/a"), "hidden text")
		write(t, filepath.Join(p.root, "hidden/deeper/a"), "hidden text")
		write(t, filepath.Join(p.root, "secret.txt"), "hidden text")
		out, _ := p.run(t, "cat hidden/a hidden/deeper/a secret.txt; echo x > hidden/b; echo x > fixed/new; echo x > "+p.outside+"/allowed; cat "+p.outside+"/allowed")
		if strings.Contains(out, "hidden text") || !strings.HasSuffix(out, "x\n") {
			t.Errorf("%v: %s", tier, out)
		}
		if _, err := os.Stat(filepath.Join(p.root, "fixed/new")); err == nil && tier == Bubblewrap {
			t.Error("a read-only directory was written to")
		}
	}
}
