package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/sandbox/jail"
)

// read runs a read-only bash command line that may execute programs.
func (p *prison) read(t *testing.T, line string, programs ...string) string {
	t.Helper()
	var finder jail.Finder
	reading := &jail.Policy{Read: []string{p.root}}
	for _, name := range append(programs, "bash") {
		found, err := finder.Find(name, []string{"/usr/bin", "/bin"})
		if err != nil {
			t.Fatal(err)
		}
		reading.Execute = append(reading.Execute, found.Files...)
	}
	confined, err := p.Wrap(t.Context(), Command{Path: "/bin/bash", Args: []string{"-c", line}, Dir: p.root, Env: []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}, Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	defer confined.End("")
	cmd := exec.CommandContext(t.Context(), confined.Path, confined.Args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = confined.Dir, confined.Env, confined.Files
	start := cmd.Start
	if confined.Start != nil {
		start = func() error { return confined.Start(cmd) }
	}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := start(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // ok: its output is checked
	return b.String()
}

// TestReading checks that a read-only command is both in the sandbox and in a jail: F2 needed a
// command outside the sandbox.
//
// Proves PERM-61, PERM-62.
func TestReading(t *testing.T) {
	for _, tier := range []Tier{Bubblewrap, Landlock} {
		p := newPrison(t, tier, func(c *Config) {
			roots := c.Roots
			c.Hidden = func() ([]string, error) { return []string{filepath.Join(roots()[0], "hidden")}, nil }
		})
		if err := os.Mkdir(filepath.Join(p.root, "hidden"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(p.root, "hidden", "file"), "private key")
		write(t, filepath.Join(p.root, "file"), "text")
		if err := os.Symlink(filepath.Join(p.home, ".ssh", "id"), filepath.Join(p.root, "a=b")); err != nil {
			t.Fatal(err)
		}
		if got := p.read(t, "cat file; echo; ls -a; cat .git/config | cat; for f in fi*; do echo $f; done 2>/dev/null; pwd", "cat", "ls"); got !=
			"text\n.\n..\n.git\na=b\nfile\nhidden\noriginalfile\n"+p.root+"\n" {
			t.Errorf("%v: readable: %q", tier, got)
		}
		before := snapshot(t, filepath.Dir(p.root))
		for _, line := range []string{
			"echo x > file", "echo x >> file", "echo x > new", "echo x > /tmp/new", "echo x > /dev/shm/new", "echo x > OUT/new", "echo x > .git/config", "echo x > /proc/self/comm",
			"cat hidden/file", "cat HOME/.ssh/id", "cat a=b", "cat OUT/file", "cat /etc/shadow", "cat /proc/1/environ", "cat /proc/self/root/HOME/.ssh/id", "cat /dev/kmsg",
			"/bin/rm -f file", "touch file", "perl -e 'print 1'", "/lib64/ld-linux-x86-64.so.2 /bin/touch new", "cp /bin/cat file2", "exec 3<>/dev/tcp/127.0.0.1/1", "exec 3<>/dev/udp/192.0.2.1/53",
			"cat > file < /dev/null", "ulimit -c unlimited && kill -SEGV $$", "kill -9 1",
		} {
			got := p.read(t, strings.NewReplacer("OUT", p.outside, "HOME", p.home).Replace(line), "cat")
			if strings.Contains(got, "private key") || strings.Contains(got, "original") || got == "" && !strings.HasPrefix(line, "kill") && !strings.HasPrefix(line, "ulimit") {
				t.Errorf("%v: %s: %q", tier, line, got)
			}
			if after := snapshot(t, filepath.Dir(p.root)); after != before {
				t.Fatalf("%v: %s changed something:\n%s\n%s", tier, line, after, got)
			}
		}
	}
	unprivileged(t)
}

// TestReadingBelowTemporaryFiles checks that read-only commands need nothing in the temporary
// directories, which may contain a working directory.
func TestReadingBelowTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "file"), "text")
	s := New(Config{Roots: func() []string { return []string{root} }, Only: Bubblewrap})
	defer s.Close()
	p := &prison{Sandbox: s, root: root}
	if got := p.read(t, "cat file; ls -A", "cat", "ls"); got != "textfile\n" {
		t.Errorf("%q", got)
	}
}
