package jail

import (
	"bytes"
	"errors"
	"fmt"
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
)

var searchPath = filepath.SplitList(os.Getenv("PATH"))

// run runs a bash command line in dir, in a jail that may execute the named programs.
func run(t testing.TB, dir string, p Policy, programs, line string) (string, error) {
	t.Helper()
	var f Finder
	for _, name := range append(strings.Fields(programs), "bash") {
		found, err := f.Find(name, searchPath)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.Execute = append(p.Execute, found.Files...)
	}
	p.Read = append(p.Read, dir)
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.Start(cmd); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	return out.String(), err
}

// workspace returns a directory to run in, with a file, and a directory outside it, with a
// secret.
func workspace(t testing.TB) (dir, outside string) {
	top := t.TempDir()
	dir, outside = filepath.Join(top, "work"), filepath.Join(top, "home")
	for _, d := range []string{dir, outside} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{dir + "/file": "content\n", outside + "/secret": "hunter2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

func TestReads(t *testing.T) {
	dir, _ := workspace(t)
	for _, c := range []struct{ programs, line, want string }{
		{"cat", "cat file", "content\n"},
		{"cat grep", "cat file | grep con", "content\n"},
		{"", "echo *", "file\n"},
		{"", "while read -r x; do echo \"<$x>\"; done < file", "<content>\n"},
		{"cat", "cat <(echo a) <<< b", "a\n"},
		{"cat", "cat <<E\n$((1+2))\nE", "3\n"},
		{"ls", "ls > /dev/null 2>&1; echo $?", "0\n"},
		{"tee cat", "echo x | tee /dev/stderr | cat", "x\nx\n"},
		{"find wc", "find . -type f -exec wc -c {} +", "8 ./file\n"},
		{"xargs cat", "echo file | xargs cat", "content\n"},
		{"stat", "stat -c %s file", "8\n"},
		{"egrep grep", "egrep con file 2>/dev/null", "content\n"},
		{"", "read x < /proc/loadavg; echo ${x:+yes}", "yes\n"},
		{"cat", "cat /proc/self/environ", "cat: /proc/self/environ: Permission denied\n"},
	} {
		if got, err := run(t, dir, Policy{}, c.programs, c.line); got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.line, got, err, c.want)
		}
	}
}

// refusals are command lines that try to do more than read. Each prints "done" if it succeeds.
var refusals = []struct{ name, programs, line string }{
	{"create", "", "echo x > new && echo done"},
	{"append", "", "echo x >> file && echo done"},
	{"truncate", "truncate", "truncate -s 0 file && echo done"},
	{"open for both", "", "exec 3<> file && echo done"},
	{"remove", "rm", "rm -f file && echo done"},
	{"rename", "mv", "mv file other && echo done"},
	{"directory", "mkdir", "mkdir d && echo done"},
	{"link", "ln", "ln file other && echo done"},
	{"symbolic link", "ln", "ln -s file other && echo done"},
	{"pipe", "mkfifo", "mkfifo p && echo done"},
	{"mode", "chmod", "chmod 600 file && echo done"},
	{"owner", "chown", "chown $(($UID)) file && echo done"},
	{"times", "touch", "touch file && echo done"},
	{"times of the past", "touch", "touch -d yesterday file && echo done"},
	{"flags", "chattr", "chattr +d file && echo done"},
	{"another program", "cat", "ls && echo done"},
	{"by its path", "cat", "/bin/ls && echo done"},
	{"program of the directory", "cat", "./program && echo done"},
	{"script of the directory", "cat", "./script && echo done"},
	{"outside", "cat", "cat ../home/secret && echo done"},
	{"outside by a link", "cat", "cat link && echo done"},
	{"outside by the shell", "", "read x < ../home/secret && echo $x done"},
	{"names outside", "ls", "ls ../home && echo done"},
	{"names outside by the shell", "", "set -- ../home/*; [ -e \"$1\" ] && echo done || echo none"},
	{"temporary file", "", "echo x > /tmp/adze-jail && echo done"},
	{"shadow", "cat", "cat /etc/shadow && echo done"},
	{"kernel settings", "", "echo 1 > /proc/sys/vm/drop_caches && echo done"},
	{"connection", "", "exec 3<>/dev/tcp/127.0.0.1/$PORT && echo done"},
	{"datagram", "", "echo x > /dev/udp/127.0.0.1/$PORT && echo done"},
	{"environment of another", "cat", "cat /proc/$OUTER/environ && echo done"},
	{"memory of another", "cat", "cat /proc/$OUTER/maps && echo done"},
	{"command line of another", "cat", "cat /proc/$OUTER/cmdline && echo done"},
	{"files of another", "cat", "cat /proc/$OUTER/root/etc/shadow && echo done"},
	{"signal", "", "kill -CONT $OUTER && echo done"},
	{"terminal", "", "exec 3<> /dev/tty && echo done"},
	{"namespace", "unshare", "unshare -Ur true && echo done"},
	{"host name", "hostname", "hostname jail && echo done"},
	{"clock", "date", "date -s '2001-01-01' && echo done"},
	{"mount", "mount", "mount -t tmpfs none . && echo done"},
	{"priority of another", "renice", "renice 5 -p $OUTER && echo done"},
	{"limit of another", "prlimit", "prlimit --pid $OUTER --nofile=100:100 && echo done"},
	{"loadable", "", "enable -f ./program x && echo done"},
	{"loader", "cat", "/lib64/ld-linux-x86-64.so.2 ../home/copy && echo done"},
}

func TestRefuses(t *testing.T) {
	dir, outside := workspace(t)
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{dir + "/program": program, dir + "/script": []byte("#!/bin/sh\n"), outside + "/copy": program} {
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside+"/secret", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	outer := exec.Command("sleep", "60")
	if err := outer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { outer.Process.Kill(); outer.Wait() }()
	t.Setenv("OUTER", strconv.Itoa(outer.Process.Pid))
	t.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	before := picture(t, filepath.Dir(dir))
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := run(t, dir, Policy{}, c.programs, c.line); strings.Contains(got, "done") || got == "" {
				t.Errorf("%s: %q", c.line, got)
			}
		})
	}
	if after := picture(t, filepath.Dir(dir)); after != before {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
	// The process that built the jail is not restricted.
	if err := os.WriteFile(dir+"/new", nil, 0o600); err != nil {
		t.Error(err)
	}
	if out, err := exec.Command("cat", outside+"/secret").Output(); err != nil || string(out) != "hunter2\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// picture describes the files below dir, with modes and times.
func picture(t *testing.T, dir string) string {
	out, err := exec.Command("find", dir, "-printf", "%P %m %u %T@ %C@ %s %l\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestHidden(t *testing.T) {
	dir, _ := workspace(t)
	for _, name := range []string{"a/key", "a/b/key", "a/b/other", ".ssh/id"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := Policy{Hidden: []string{dir + "/.ssh", dir + "/a/b/key"}}
	got, _ := run(t, dir, p, "cat ls", "cat file a/key a/b/other a/b/key .ssh/id 2>/dev/null; ls")
	if want := "content\na/key\na/b/other\na\nfile\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProcesses(t *testing.T) {
	dir, _ := workspace(t)
	line := fmt.Sprintf("cat /proc/%d/comm; cat /proc/%d/environ", os.Getpid(), os.Getpid())
	got, _ := run(t, dir, Policy{Processes: true}, "cat", line)
	if !strings.HasPrefix(got, "jail.test\n") || !strings.Contains(got, "Permission denied") {
		t.Errorf("%q", got)
	}
}

func TestNetwork(t *testing.T) {
	dir, _ := workspace(t)
	if got, err := run(t, dir, Policy{Network: true}, "head", "head -c 5 /proc/net/dev"); got != "Inter" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLives checks that a jailed program survives the end of the thread that started it,
// although that thread's end sends the parent-death signal.
func TestLives(t *testing.T) {
	dir, _ := workspace(t)
	if got, err := run(t, dir, Policy{}, "sleep", "sleep 0.2; echo over"); got != "over\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFind(t *testing.T) {
	var f Finder
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tool":  "#!/usr/bin/env bash\n",
		"chain": "#!" + dir + "/tool\n",
		"odd":   "#!/usr/bin/env -S bash -x\n",
		"bare":  "echo\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dirs := append([]string{dir}, searchPath...)
	bash, err := f.Find("bash", searchPath)
	if err != nil || bash.Script || len(bash.Files) != 2 {
		t.Fatalf("%+v, %v", bash, err)
	}
	for _, name := range []string{"tool", "chain"} {
		p, err := f.Find(name, dirs)
		if err != nil || !p.Script || !slices.Contains(p.Files, bash.Files[0]) || !slices.Contains(p.Files, bash.Files[1]) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for _, name := range []string{"odd", "bare", "a/b", "", "nosuch"} {
		if p, err := f.Find(name, dirs); err == nil {
			t.Errorf("%q: %+v", name, p)
		}
	}
	if _, err := f.Find("nosuch", dirs); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}

func BenchmarkStart(b *testing.B) {
	dir, _ := workspace(b)
	var f Finder
	cat, err := f.Find("cat", searchPath)
	if err != nil {
		b.Fatal(err)
	}
	p := Policy{Read: []string{dir}, Execute: cat.Files}
	start := func(inside bool) time.Duration {
		cmd := exec.Command("cat", "/dev/null")
		cmd.Dir, cmd.Env = dir, []string{}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
		begin := time.Now()
		run := cmd.Start
		if inside {
			run = func() error { return p.Start(cmd) }
		}
		if err := run(); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	var with, without []time.Duration
	for b.Loop() {
		without = append(without, start(false))
		with = append(with, start(true))
	}
	slices.Sort(with)
	slices.Sort(without)
	b.ReportMetric(float64(with[len(with)/2]-without[len(without)/2])/1e6, "added-ms")
	b.ReportMetric(float64(without[len(without)/2])/1e6, "plain-ms")
}
