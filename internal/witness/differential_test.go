//go:build linux && !race

package witness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// compared is the number of generated lines compared. WITNESS_LINES overrides it.
const compared = 2_000

// An answer is the outcome of a line.
type answer struct {
	out  string // both streams
	code int
	dir  string // final directory
}

// peculiar matches lines whose output varies, or that show variables adze adds to the
// environment on purpose: a pager, a dumb terminal, and settings that keep git from running
// programs.
var peculiar = regexp.MustCompile(`\$\$|PPID|RANDOM|SECONDS|\bdate\b|\b(ps|top|free|df|uptime|vmstat|iostat|ss|netstat|lsof|pgrep|pstree|times|time|stat|w|who|du|nproc|uname|id|export|printenv|env|declare|typeset|readonly|set|compgen|help|ulimit|jobs|wait|shuf|last|lscpu|lsblk|findmnt|mount|ip|ifconfig|man|locale|hostname|trap|history|openssl|fuser|arp|ifconfig|lastlog|javap|java|jar|dpkg|valgrind|wget|zcmp|zgrep|zfgrep|zegrep|pmap|gpg|lsns|PATH|bzdiff|zdiff|xzdiff|ipcs|javac|lsattr|psql|tac|yes|route|bzgrep|pip|pip3|terraform|whereis)\b|sort (-R|--random)|git (-\S+ \S+ )?(config|var|reflog|fsck)|/proc|/dev/(fd|std)|-[a-zA-Z]*[uc][a-zA-Z]* .*ls|atime|-ls|%a|\$_|\$-`)

// reference runs a line in bash.
func (s *stage) reference(ctx context.Context, env []string, line string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, code, err := s.bash(ctx, env, line, nil)
	if err != nil {
		return answer{}, err
	}
	a := answer{out: out, code: code, dir: s.ws}
	if moves.MatchString(line) {
		// Run it again to find the final directory.
		var where bytes.Buffer
		if _, _, err := s.bash(ctx, env, "trap 'pwd -P >&3' EXIT\n"+line, &where); err != nil {
			return answer{}, err
		}
		a.dir = strings.TrimSuffix(where.String(), "\n")
	}
	return a, nil
}

// bash runs a line; where, if not nil, receives the output to descriptor 3.
func (s *stage) bash(ctx context.Context, env []string, line string, where io.Writer) (string, int, error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env = s.ws, append(slices.Clone(env), "PWD="+s.ws)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.user.uid), Gid: uint32(s.user.gid)}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if where != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return "", 0, err
		}
		defer r.Close()
		cmd.ExtraFiles = []*os.File{w}
		if err := cmd.Start(); err != nil {
			return "", 0, err
		}
		w.Close() // ok: bash has its own
		if _, err := io.Copy(where, r); err != nil {
			return "", 0, err
		}
	} else if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	err := cmd.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return "", 0, err
	}
	code := cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return out.String(), code, nil
}

// answer runs a line with the tool. It returns false if the line needed a prompt.
func (d *driver) answer(line string) (answer, bool, error) {
	r, err := d.send(line)
	if err != nil || !r.ran() || r.late() {
		return answer{out: r.Text}, false, err
	}
	a := answer{out: r.Structured.Stdout + r.Structured.Stderr, code: r.Structured.ExitCode, dir: d.home}
	if !moves.MatchString(line) {
		return a, true, nil
	}
	where, err := d.send("pwd -P")
	if err == nil && where.ran() {
		a.dir = where.Structured.Stdout
	}
	if err == nil {
		_, err = d.send("cd " + d.home)
	}
	return a, true, err
}

// same reports whether two answers are equivalent. The tool trims blank lines at both ends. The
// outputs of two concurrent commands have no defined order, not even within a line: some
// programs write a line in several pieces.
func same(got, want answer, line, home string) bool {
	a, b := trimmed(got.out), trimmed(want.out)
	if moves.MatchString(line) { // run in a way that may miscount here-document lines
		a, b = numbered.ReplaceAllString(a, ""), numbered.ReplaceAllString(b, "")
	}
	if got.code != want.code || got.dir != want.dir && within(want.dir, home) {
		return false // a session does not leave the workspace
	}
	if a != b && strings.ContainsAny(line, "|(") {
		return sorted(a) == sorted(b)
	}
	return a == b
}

var numbered = regexp.MustCompile(`line [0-9]+: `)

// trimmed returns text without blank lines at both ends.
func trimmed(text string) string {
	for {
		first, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(first) != "" {
			return strings.TrimRightFunc(text, unicode.IsSpace)
		}
		text = rest
	}
}

// sorted returns the characters of text in order.
func sorted(text string) string {
	characters := []rune(text)
	slices.Sort(characters)
	return string(characters)
}

// presentable reports whether the tool shows output unchanged: it replaces control characters
// and truncates long output.
func presentable(out string) bool {
	return len(out) < 10_000 && utf8.ValidString(out) && !strings.ContainsFunc(out, func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsPrint(r)
	})
}

// closedPipe matches the messages of programs that write to a closed pipe.
var closedPipe = regexp.MustCompile(`(?i)signal 13|broken pipe|sigpipe`)

// differ starts a driver for a locale and returns a function that compares a line. ok is false
// if the line could not be compared; text is then the reason.
func (s *stage) differ(ctx context.Context, t *testing.T, locale string) (compare func(line string) (text string, ok bool), end func()) {
	t.Helper()
	env := slices.DeleteFunc(s.environment(), func(entry string) bool { return strings.HasPrefix(entry, "LANG=") || strings.Contains(entry, secret) })
	env = append(env, "LANG="+locale, "TERM=dumb", "PAGER=cat", "GIT_OPTIONAL_LOCKS=0")
	d := s.drive(ctx, t, env, nil, "--as-model")
	return func(line string) (string, bool) {
		var ours, theirs []answer
		for range 6 { // timing-dependent output varies
			got, ran, err := d.answer(line)
			if err != nil {
				t.Fatal(err)
			}
			if !ran {
				return got.out, false
			}
			want, err := s.reference(ctx, env, line)
			if err != nil || !presentable(want.out) {
				return "it blocks, or its output is not observable", false
			}
			ours, theirs = append(ours, got), append(theirs, want)
			for _, got := range ours {
				for _, want := range theirs {
					if same(got, want, line, s.ws) {
						return "", true
					}
				}
			}
		}
		for _, all := range [][]answer{ours, theirs} {
			if slices.ContainsFunc(all, func(a answer) bool { return !same(a, all[0], line, s.ws) }) {
				return "the answer is different each time", false
			}
		}
		got, want := ours[0], theirs[0]
		if closedPipe.MatchString(got.out + want.out) {
			return "whether a command notices that its reader has ended depends on the moment", false
		}
		return fmt.Sprintf("%q\nadze: %d in %s\n%s\nbash: %d in %s\n%s", line, got.code, got.dir, got.out, want.code, want.dir, want.out), true
	}, func() { d.close() }
}

// TestLikeBash runs each row of testdata/differential.txt with the tool and with bash, and
// expects the same result. The rows are lines for which our own runner once differed.
func TestLikeBash(t *testing.T) {
	s := newStage(t, plainUser(t))
	s.calm(t)
	s.closed(t)
	rows := readLines(t, "testdata/differential.txt")
	for _, locale := range []string{"C.UTF-8", "en_US.UTF-8", "C"} {
		t.Run(locale, func(t *testing.T) {
			if out, err := exec.CommandContext(t.Context(), "locale", "-a").Output(); err != nil || !strings.Contains(string(out), strings.Replace(locale, "UTF-8", "utf8", 1)) {
				t.Fatalf("the locale %s is missing (%v): localedef -i en_US -f UTF-8 en_US.UTF-8 makes it", locale, err)
			}
			compare, end := s.differ(t.Context(), t, locale)
			defer end()
			for _, row := range rows {
				f := strings.SplitN(row, "\t", 3)
				if len(f) != 3 {
					t.Fatalf("%q is not a finding, a locale and a line", row)
				}
				if f[1] != locale {
					continue
				}
				if difference, ok := compare(s.fill(f[2])); !ok {
					t.Errorf("%s: %q was not compared: %.200s", f[0], f[2], difference)
				} else if difference != "" {
					t.Errorf("%s: %s", f[0], difference)
				}
			}
		})
	}
}

// closed creates a directory that its owner can't read.
func (s *stage) closed(t *testing.T) {
	t.Helper()
	write(t, s.ws+"/closed/x", "x\n", 0o644)
	s.give(t)
	if err := os.Chmod(s.ws+"/closed", 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(s.ws+"/closed", 0o755) }) // ok: the directory could not be removed then
}

// TestLikeBashSignal is B23: a program killed by a signal. The tool names the signal, bash adds
// its number to 128.
func TestLikeBashSignal(t *testing.T) {
	s := newStage(t, plainUser(t))
	d := s.drive(t.Context(), t, s.environment(), []string{"prlimit", "--cpu=1:60"}, "--as-model")
	defer d.close()
	d.timeout = time.Minute
	const endless = "awk 'BEGIN { while (1); }'"
	if r, err := d.send(endless); err != nil || !r.ran() || r.Structured.Signal != syscall.SIGXCPU.String() {
		t.Errorf("%s: %+v, %v; want the reason %s", endless, r, err, syscall.SIGXCPU)
	}
	want := fmt.Sprint(128 + int(syscall.SIGXCPU))
	if r, err := d.send(endless + "; echo $?"); err != nil || !r.ran() || !strings.HasSuffix(r.Structured.Stdout, want) {
		t.Errorf("%s; echo $?: %+v, %v; want %s", endless, r, err, want)
	}
}

// TestLikeBashGenerated compares generated lines.
func TestLikeBashGenerated(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainUser(t))
	s.calm(t)
	count, seed := number(t, "WITNESS_LINES", compared), number(t, "WITNESS_SEED", 1)
	g := s.grammar(t, uint64(seed))
	g.calm = true
	compare, end := s.differ(t.Context(), t, "C.UTF-8")
	defer end()
	given, equal, different := 0, 0, 0
	for equal < count && given < 20*count && different < 20 {
		line := g.line()
		if peculiar.MatchString(line) {
			continue
		}
		given++
		difference, ok := compare(line)
		switch {
		case ok && difference != "":
			different++
			t.Error(difference)
		case ok:
			equal++
		}
	}
	t.Logf("%d of %d lines ran and were equal", equal, given)
	if equal < count && !t.Failed() {
		t.Errorf("only %d of %d lines ran", equal, given)
	}
}
